import { parseTaxId } from '../../brazil/tax-id.js';
import { bank, outsideBank } from '../bank-identity.js';
import type { BankAccount } from './bank-account.js';

/** A side of a Pix, as the contract tells payer and beneficiary. */
export interface Party {
  number: string;
  branch: string;
  type: 'CURRENT' | 'PAYMENT' | 'SAVING' | 'SALARY';
  holder: { document: string; name: string; type: 'NATURAL' | 'LEGAL' };
  participant: { name: string; ispb: string };
}

export function partyOfAccount(account: BankAccount): Party {
  return {
    number: account.number,
    branch: account.branch,
    type: 'CURRENT',
    holder: {
      document: account.holderDocument,
      name: account.holderName,
      type: account.holderType,
    },
    participant: { name: bank.name, ispb: bank.ispb },
  };
}

export interface OutsidePayer {
  name?: string | null | undefined;
  document?: string | null | undefined;
}

/** Who pays when a test names nobody. */
const anonymous = { name: 'Pagador de Teste', document: '52998224725' };

/** Somebody at another institution; a document that is none is told as it was given. */
export function partyOutside({ name, document }: OutsidePayer): Party {
  const text = document || anonymous.document;
  const taxId = parseTaxId(text);
  return {
    number: '7654321',
    branch: '0001',
    type: 'CURRENT',
    holder: {
      document: taxId?.number ?? text,
      name: name || anonymous.name,
      type: taxId?.kind ?? (text.replaceAll(/\D/g, '').length > 11 ? 'LEGAL' : 'NATURAL'),
    },
    participant: { name: outsideBank.name, ispb: outsideBank.ispb },
  };
}
