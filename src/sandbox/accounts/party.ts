import { parseTaxId } from '../../brazil/tax-id.js';
import type { Account } from '../../generated/sandbox/client.js';

/**
 * The sandbox bank as an institution. It is fictitious; its codes are assigned to no real
 * institution.
 */
export const bank = {
  /** COMPE code in bar codes; 999 is unassigned. */
  code: '999',
  ispb: '99999999',
  name: 'Banco Sandbox S.A.',
} as const;

/** The institution of outside payers, unless the test names another one. */
export const outsideBank = { ispb: '88888888', name: 'Banco dos Pagadores S.A.' } as const;

type AccountFields =
  | ('id' | 'branch' | 'number' | 'holderName' | 'holderDocument')
  | ('street' | 'city' | 'state' | 'zipCode' | 'email');

/** A customer's account with the fields that responses need. The ledger owns its balance. */
export interface SandboxAccount extends Pick<Account, AccountFields> {
  holderType: 'NATURAL' | 'LEGAL';
}

/** Payer or beneficiary of a Pix, in the shape of the contract. */
export type Party = {
  number: string;
  branch: string;
  type: 'CURRENT' | 'PAYMENT' | 'SAVING' | 'SALARY';
  holder: { document: string; name: string; type: 'NATURAL' | 'LEGAL' };
  participant: { name: string; ispb: string };
};

export function partyOfAccount(account: SandboxAccount): Party {
  const { number, branch } = account;
  const participant = { name: bank.name, ispb: bank.ispb };
  return { number, branch, type: 'CURRENT', holder: holderOf(account), participant };
}

export function holderOf(
  account: Pick<SandboxAccount, 'holderDocument' | 'holderName' | 'holderType'>,
): Party['holder'] {
  const { holderDocument: document, holderName: name, holderType: type } = account;
  return { document, name, type };
}

export interface OutsidePayer {
  name?: string | null | undefined;
  document?: string | null | undefined;
}

/** The payer when a test names none. */
const defaultPayer = { name: 'Pagador de Teste', document: '52998224725' };

/** An account holder at another institution. An invalid document is used as it was sent. */
export function outsideParty({ name, document }: OutsidePayer): Party {
  const text = document || defaultPayer.document;
  const taxId = parseTaxId(text);
  return {
    number: '7654321',
    branch: '0001',
    type: 'CURRENT',
    holder: {
      document: taxId?.number ?? text,
      name: name || defaultPayer.name,
      type: taxId?.kind ?? (text.replaceAll(/\D/g, '').length > 11 ? 'LEGAL' : 'NATURAL'),
    },
    participant: { name: outsideBank.name, ispb: outsideBank.ispb },
  };
}
