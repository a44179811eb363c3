const ZERO = '0'.charCodeAt(0);

/**
 * The modulus 10 check digit of bank slip fields and utility bills: weights 2, 1, 2, 1… from the
 * right, the digits of each product added, and 10 written as 0. It detects every changed digit.
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

/** The weighted sum modulo 11, 0 to 10. The weights are 2 to 9 from the right, repeated. */
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
 * The general check digit of a bank slip. The remainders 0, 1 and 10 all give 1, "in no case 0"
 * (Banco do Brasil, Especificações Técnicas para Confecção de Boleto). So a change from one of
 * these remainders to another is not detected. A correct digit does not prove who issued the slip.
 */
export function bankSlipMod11CheckDigit(digits: string): number {
  const digit = 11 - mod11Remainder(digits);
  return digit > 9 ? 1 : digit;
}

/**
 * The modulus 11 check digit of a utility bill. It differs from the check digit of a bank slip: the
 * remainders 0 and 1 give 0, and 10 gives 1 (FEBRABAN, Layout Padrão de Arrecadação v07). Only a
 * change between the remainders 0 and 1 is not detected.
 */
export function utilityBillMod11CheckDigit(digits: string): number {
  const digit = 11 - mod11Remainder(digits);
  return digit > 9 ? 0 : digit;
}
