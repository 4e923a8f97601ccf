! The shop in Fortran: a module, internal and pure functions, arrays.
module shop
  implicit none
  integer :: sales = 7
contains
  pure integer function cents(price, n)
    integer, intent(in) :: price, n
    cents = price * n + mod(price, 3)
  end function cents

  integer function total(prices)
    integer, intent(in) :: prices(:)
    integer :: i
    total = 0
    do i = 1, size(prices)
      total = total + with_tax(prices(i))
    end do
  contains
    integer function with_tax(price)
      integer, intent(in) :: price
      with_tax = cents(price, 2) + sales
    end function with_tax
  end function total
end module shop

program main
  use shop
  implicit none
  integer :: prices(4), i
  do i = 1, 4
    prices(i) = cents(i, sales)
  end do
  print *, total(prices)
end program main
