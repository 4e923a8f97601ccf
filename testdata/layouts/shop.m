// The shop in Objective-C: a root class, a category, class and instance methods.
#include <objc/objc.h>
#include <objc/runtime.h>

__attribute__((objc_root_class)) @interface Item
{
	Class isa;
	int price;
}
+ (int)tax:(int)of;
- (int)cents:(int)n withTax:(int)tax;
@end

static inline __attribute__((always_inline)) int times(int price, int n)
{
	return price * n + 3;
}

@implementation Item
+ (int)tax:(int)of
{
	return of / 5;
}
- (int)cents:(int)n withTax:(int)tax
{
	price = times(price, n);
	return price + tax;
}
@end

@interface Item (More)
- (int)more;
@end

@implementation Item (More)
- (int)more
{
	return times(price, 2);
}
@end

int main(int argc, char **argv)
{
	Item *i = class_createInstance(objc_getClass("Item"), 0);

	return ([i cents:argc withTax:[Item tax:argc]] + [i more]) & 1;
}
