// Converts rules between the API and the stored form. Documents are stored unmasked, since
// lines are compared with them, and shown masked. Pure.
import { z } from 'zod';
import { maskTaxId, parseTaxId } from '../../brazil/tax-id.js';
import { reais } from '../../contract/wire.js';
import { normalizeTaxId } from '../../expected-payments/counterparty.js';
import type { RuleAction, RuleCondition } from '../decide/rule.js';
import type { RuleDefinition } from './rules.schema.js';

export function toCondition({ amount, document, notes, ...others }: RuleDefinition['when']) {
  const plain = normalizeTaxId(document);
  const condition = {
    ...others,
    minCents: amount?.min,
    maxCents: amount?.max,
    document: plain ?? undefined,
    notes: notes?.contains,
  };
  const entries = Object.entries(condition).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as RuleCondition;
}

export function toAction({ classify, reason, match }: RuleDefinition['then']): RuleAction {
  if (classify !== undefined) return { do: 'classify', classify, reason: reason ?? '' };
  const { by = [], tolerance, window = null, combines = false, instalments = false } = match ?? {};
  return {
    do: 'match',
    by,
    toleranceCents: tolerance?.amount ?? 0n,
    toleranceBasisPoints: tolerance?.percent ?? 0n,
    window,
    combines,
    instalments,
  };
}

/** The given conditions only, with amounts in reais. */
export function describeCondition(when: RuleCondition) {
  const { minCents, maxCents, document, notes, ...others } = when;
  const hasAmount = minCents !== undefined || maxCents !== undefined;
  return {
    ...others,
    ...(hasAmount ? { amount: { ...inReais('min', minCents), ...inReais('max', maxCents) } } : {}),
    ...(document === undefined ? {} : { document: masked(document) }),
    ...(notes === undefined ? {} : { notes: { contains: notes } }),
  };
}

export function describeAction(then: RuleAction) {
  if (then.do === 'classify') return { classify: then.classify, reason: then.reason };
  const { by, toleranceCents, toleranceBasisPoints, window, combines, instalments } = then;
  const tolerance = {
    ...inReais('amount', toleranceCents || undefined),
    ...inReais('percent', toleranceBasisPoints || undefined),
  };
  return {
    match: {
      by,
      ...(Object.keys(tolerance).length > 0 ? { tolerance } : {}),
      ...(window ? { window } : {}),
      combines,
      instalments,
    },
  };
}

function inReais(name: string, cents: bigint | undefined) {
  return cents === undefined ? {} : { [name]: z.encode(reais, cents) };
}

function masked(document: string): string {
  const taxId = parseTaxId(document);
  return taxId ? maskTaxId(taxId) : '***';
}
