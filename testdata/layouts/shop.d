// The shop in D: templates, a class, a nested function, a delegate.
module shop;

class Item
{
    int price;
    this(int p) { price = p; }
    int cents(int n) { return price * n + tax(price); }
}

int tax(int price) { return price / 5; }

T sum(T)(const T[] list)
{
    T total = 0;
    foreach (x; list)
        total += x;
    return total;
}

int sell(Item[] items, int delegate(int) more)
{
    int[4] costs;
    int one(size_t i) { return more(items[i].cents(2)); }
    foreach (i; 0 .. items.length < 4 ? items.length : 4)
        costs[i] = one(i);
    return sum(costs[]);
}

int main(string[] args)
{
    Item[] items;
    foreach (i; 0 .. args.length + 3)
        items ~= new Item(cast(int) i * 31);
    int extra = cast(int) args.length;
    return sell(items, (int x) => x + extra) & 1;
}
