import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  isReversalType,
  isUndoingType,
  otherThanPixPattern,
  undoingPattern,
} from './line-types.js';

const read = (path: string) => readFileSync(path, 'utf8');
const migration = read('prisma/service/migrations/20261122000000_initial/migration.sql');

describe('the types of refunds and reversals', () => {
  it('are those of the index of refunds without a Pix', () => {
    expect(migration).toContain(`AND type_name ~* '${undoingPattern}'`);
    expect(migration).toContain(`AND type_name !~* '${otherThanPixPattern}'`);
  });

  it('are those of the identities of verify, which share no code with what they check', () => {
    const identities = read('src/reconciliation/runs/refund-identities.queries.ts');
    expect(identities).toContain(`debit.type_name ~* '${undoingPattern}'`);
    expect(identities).toContain(`pix.type_name !~* '${undoingPattern}'`);
  });

  it.each([
    ['DEBIT_PIX_REFUND', true, false],
    ['CREDIT_PIX_REFUND_REVERSAL', true, true],
    ['DEVOLUCAO_PIX', true, false],
    ['Estorno de Pix', true, true],
    ['DEBIT_PIX', false, false],
  ])('of %s: undoes money %s, reverses it %s', (typeName, undoes, reverses) => {
    expect([isUndoingType(typeName), isReversalType(typeName)]).toEqual([undoes, reverses]);
  });
});
