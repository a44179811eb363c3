// The identity of an account at its bank, as export files state it. An operator sets it, because
// the bank's contract does not show it.
import { z } from 'zod';
import { parseTaxId } from '../../brazil/tax-id.js';
import { ispbText, taxIdText } from '../../bank-contract/transfers.js';
import { digits, filledText, patternText, nameSchemas } from '../../bank-contract/wire.js';

const orNull = <Text extends z.ZodType<string>>(schema: Text) =>
  schema.nullish().transform((value) => value ?? null);

const checkDigits = (maxLength: number, message: string) =>
  patternText(maxLength, new RegExp(`^[0-9A-Z]{1,${maxLength}}$`), message);

const isNotZero = (number: string) => !/^0+$/.test(number);

/** The lengths are those of CNAB 240. Check digits stand apart from their numbers. */
export const bankDetails = z.object({
  /** COMPE. Null for an institution that has only an ISPB. */
  bankCode: orNull(digits(3).refine(isNotZero, 'Must not be 000.')),
  ispb: ispbText,
  bankName: filledText(100),
  branch: digits(1, 5),
  branchDigit: orNull(checkDigits(1, 'Must be a digit or a capital letter.')),
  accountNumber: digits(1, 12).refine(isNotZero, 'Must not be zero.'),
  accountDigit: orNull(checkDigits(2, 'Must be one or two digits or capital letters.')),
  holderName: filledText(100),
  /** CPF or CNPJ, without punctuation. */
  holderTaxId: taxIdText.transform((text) => parseTaxId(text)?.number ?? text),
  /** The number under which the bank exchanges files with the holder (convênio). */
  agreement: orNull(filledText(20)),
});

export type BankDetails = z.output<typeof bankDetails>;

const nullableText = z.string().nullable();

export const bankDetailsView = z.object({
  bankCode: nullableText,
  ispb: z.string(),
  bankName: z.string(),
  branch: z.string(),
  branchDigit: nullableText,
  accountNumber: z.string(),
  accountDigit: nullableText,
  holderName: z.string(),
  holderTaxId: z.string(),
  agreement: nullableText,
});

nameSchemas({ BankDetailsRequest: bankDetails, BankDetails: bankDetailsView });
