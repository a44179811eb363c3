const ZERO = '0'.charCodeAt(0);

/**
 * Modulus 10 of bank slip fields and utility bills: weights 2, 1, 2, 1… from the right, the digits
 * of each product added, and 10 written as 0. It catches every change of one digit.
 *
 * `digits` must hold ASCII digits only; the result is 0 to 9.
 */
export function mod10CheckDigit(digits: string): number {
  let sum = 0;
  let weight = 2;
  for (let i = digits.length - 1; i >= 0; i -= 1) {
    const product = (digits.charCodeAt(i) - ZERO) * weight;
    sum += product > 9 ? product - 9 : product;
    weight = 3 - weight;
  }
  return (10 - (sum % 10)) % 10;
}

/** Weighted sum modulo 11, weights 2 to 9 from the right and round again; 0 to 10. */
export function mod11Remainder(digits: string): number {
  let sum = 0;
  let weight = 2;
  for (let i = digits.length - 1; i >= 0; i -= 1) {
    sum += (digits.charCodeAt(i) - ZERO) * weight;
    weight = weight === 9 ? 2 : weight + 1;
  }
  return sum % 11;
}

/**
 * The bank slip's general digit: the remainders 0, 1 and 10 all give 1, "in no case 0" (Banco do
 * Brasil, Especificações Técnicas para Confecção de Boleto). So a change that moves the remainder
 * within those three passes unseen, and a digit that holds proves nothing about who issued the slip.
 */
export function bankSlipMod11CheckDigit(digits: string): number {
  const digit = 11 - mod11Remainder(digits);
  return digit > 9 ? 1 : digit;
}

/**
 * The utility bill's modulus 11, which is *not* the bank slip's: the remainders 0 and 1 give 0, and
 * 10 gives 1 (FEBRABAN, Layout Padrão de Arrecadação v07). Only a change that moves the remainder
 * between 0 and 1 passes unseen.
 */
export function utilityBillMod11CheckDigit(digits: string): number {
  const digit = 11 - mod11Remainder(digits);
  return digit > 9 ? 0 : digit;
}
