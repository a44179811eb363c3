import { parseBillCode } from '../../brazil/bill-code.js';
import { fixtureAccounts } from '../accounts/fixtures.js';
import { bank, holderOf, type Party } from '../accounts/party.js';

export type BillBeneficiary = Party['holder'] & { fantasyName: string };
export type BillIssuer = { ispb: string; name: string; nameFantasy: string };

/** Payer, beneficiary and issuing institution of a bill, in the shape of the contract. */
export interface BillParties {
  payer: Party['holder'];
  beneficiary: BillBeneficiary;
  issuer: BillIssuer;
}

const supplier: BillBeneficiary = {
  document: '11444777000161',
  name: 'Fornecedora de Materiais Ltda',
  fantasyName: 'Fornecedora',
  type: 'LEGAL',
};
const utility: BillBeneficiary = {
  document: '34028316000103',
  name: 'Companhia de Serviços Públicos S.A.',
  fantasyName: 'Serviços Públicos',
  type: 'LEGAL',
};

/** Known institutions by COMPE code. Any other code gets a fictitious institution. */
const issuers = new Map<string, BillIssuer>([
  ['237', { ispb: '60746948', name: 'Banco Bradesco S.A.', nameFantasy: 'Bradesco' }],
  [bank.code, { ispb: bank.ispb, name: bank.name, nameFantasy: bank.name }],
]);
const unknownIssuer = {
  ispb: '77777777',
  name: 'Banco dos Emissores S.A.',
  nameFantasy: 'Banco dos Emissores',
};

export const ownIssuer: BillIssuer = issuers.get(bank.code)!;

/** The parties of a bill that names none. */
export function defaultParties(barCode: string): BillParties {
  const parsed = parseBillCode(barCode);
  const isSlip = parsed.ok && parsed.code.type === 'BANKSLIP';
  const ispb = parsed.ok ? parsed.code.issuerIspb : null;
  const knownIssuer = isSlip ? issuers.get(barCode.slice(0, 3)) : undefined;
  return {
    payer: holderOf(fixtureAccounts[0]),
    beneficiary: isSlip ? supplier : utility,
    issuer: knownIssuer ?? (ispb === null ? unknownIssuer : { ...unknownIssuer, ispb }),
  };
}
