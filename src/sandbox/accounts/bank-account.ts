/** A customer's account, as every answer needs it; what it holds is the ledger's business. */
export interface BankAccount {
  id: number;
  branch: string;
  number: string;
  holderName: string;
  /** CPF or CNPJ without punctuation. */
  holderDocument: string;
  holderType: 'NATURAL' | 'LEGAL';
  street: string;
  city: string;
  state: string;
  zipCode: string;
  /** Empty when the bank has none. */
  email: string;
}
