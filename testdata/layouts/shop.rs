// A Rust program with closures, generics, traits and what it pulls in of std.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

trait Price {
    fn cents(&self) -> u64;
    fn total<I: Iterator<Item = u64>>(&self, more: I) -> u64 {
        more.fold(self.cents(), |a, b| a.wrapping_add(b))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Item<'a> {
    name: &'a str,
    cents: u64,
}

impl Price for Item<'_> {
    fn cents(&self) -> u64 {
        self.cents
    }
}

static SALES: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(7);

#[inline(never)]
fn show<T: Display + ?Sized>(what: &T) -> String {
    format!("{what:>10}")
}

#[inline(never)]
fn sell(items: &[Item]) -> BTreeMap<String, u64> {
    let mut sold: HashMap<&str, Vec<u64>> = HashMap::new();
    for i in items {
        sold.entry(i.name).or_default().push(i.total((0..i.cents % 5).map(|n| n * n)));
        SALES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    sold.into_iter().map(|(k, v)| (show(k), v.iter().sum())).collect()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let items: Vec<Item> = args
        .iter()
        .enumerate()
        .map(|(n, name)| Item { name, cents: n as u64 * 31 + 4 })
        .collect();
    println!("{:?} {}", sell(&items), SALES.load(std::sync::atomic::Ordering::Relaxed));
}
