import { parsePixKey } from '../../brazil/pix-key.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import { fixtureAccounts } from './fixtures.js';

it('seeds accounts whose documents and Pix keys are valid and of the stated kind', () => {
  for (const account of fixtureAccounts) {
    expect(parseTaxId(account.holderDocument)).toEqual({
      kind: account.holderType,
      number: account.holderDocument,
    });
    for (const dictKey of account.dictKeys) expect(parsePixKey(dictKey.key)).toEqual(dictKey);
  }
});
