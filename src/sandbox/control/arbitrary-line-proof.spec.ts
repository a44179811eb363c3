import { fixtureAccounts } from '../accounts/fixtures.js';
import { partiesOfLine, proofOfArbitraryLine, type ArbitraryLine } from './arbitrary-line-proof.js';

const [first, second] = fixtureAccounts;
const account = { id: 1, ...first };
const line: ArbitraryLine = {
  typeName: 'CREDIT_TRANSFER_EXTERNAL',
  notes: 'TED',
  endToEndId: null,
  amountCents: 1_050n,
  isCredit: true,
};
const proofOf = (changes: Partial<ArbitraryLine> = {}) => {
  const changed = { ...line, ...changes };
  const parties = partiesOfLine(changed.isCredit, account, null);
  return proofOfArbitraryLine(changed, { id: 'ted', ...parties });
};

it('names both parties of a TED: the account as beneficiary of a credit, payer of a debit', () => {
  expect(proofOf()).toMatchObject({
    id: 'ted',
    type: 'EXTERNAL',
    description: 'TED',
    payer: { participant: { ispb: '88888888' } },
    beneficiary: { number: first.number },
  });
  expect(proofOf({ isCredit: false, typeName: 'DEBIT_TRANSFER_EXTERNAL' })).toMatchObject({
    payer: { number: first.number },
    beneficiary: { participant: { ispb: '88888888' } },
  });
});

it('sets the endToEndId of a Pix and the given account of this bank as counterparty', () => {
  const counterparty = { id: 2, ...second };
  const pix = { ...line, typeName: 'CREDIT_PIX', endToEndId: 'E1' };
  const parties = partiesOfLine(pix.isCredit, account, counterparty);
  expect(proofOfArbitraryLine(pix, { id: 'x', ...parties })).toMatchObject({
    endToEndId: 'E1',
    status: 'PIX_EFFECTIVE',
    payer: { number: second.number, participant: { ispb: '99999999' } },
  });
});

it('returns no proof for any other line', () => {
  expect(proofOf({ typeName: 'DEBIT_FEE', isCredit: false })).toBeNull();
});
