// A Go program with goroutines, generics, closures and what it pulls in of the library.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
)

type number interface{ ~int | ~float64 }

type item struct {
	name  string
	price float64
}

type priced interface{ cost(tax float64) float64 }

func (i *item) cost(tax float64) float64 { return i.price * (1 + tax) }

var sales = 7

func sum[T number](list []T) (total T) {
	for _, v := range list {
		total += v
	}
	return
}

func sell(items []priced) []float64 {
	var lock sync.Mutex
	var wait sync.WaitGroup
	var costs []float64
	for n, i := range items {
		wait.Add(1)
		go func(tax float64) {
			defer wait.Done()
			lock.Lock()
			costs = append(costs, i.cost(tax))
			sales++
			lock.Unlock()
		}(float64(n) / 10)
	}
	wait.Wait()
	sort.Float64s(costs)
	return costs
}

func main() {
	var items []priced
	for n, name := range os.Args {
		items = append(items, &item{strings.ToUpper(name), float64(n * 3)})
	}
	fmt.Println(sell(items), sum(sell(items)), sum([]int{1, 2, sales}))
}
