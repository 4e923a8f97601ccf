--  The shop in Ada: nested packages, a generic, an exception.
with Ada.Text_IO;
with Ada.Command_Line;

procedure Shop is
   Sales : Integer := 7;

   package Prices is
      Too_Dear : exception;
      function Cents (Price, N : Integer) return Integer;
   end Prices;

   package body Prices is
      function Tax (Price : Integer) return Integer is (Price / 5 + Sales);
      function Cents (Price, N : Integer) return Integer is
      begin
         if Price > 1_000 then
            raise Too_Dear;
         end if;
         return Price * N + Tax (Price);
      end Cents;
   end Prices;

   generic
      type Number is range <>;
   function Sum (A, B : Number) return Number;
   function Sum (A, B : Number) return Number is (A + B);

   type Count is range 0 .. 10_000_000;
   function Sum_Counts is new Sum (Count);

   Total : Count := 0;
begin
   for I in 1 .. Ada.Command_Line.Argument_Count + 4 loop
      Sales := Sales + 1;
      Total := Sum_Counts (Total, Count (Prices.Cents (I, Sales)));
   end loop;
   Ada.Text_IO.Put_Line (Count'Image (Total));
exception
   when Prices.Too_Dear =>
      Ada.Text_IO.Put_Line ("too dear");
end Shop;
