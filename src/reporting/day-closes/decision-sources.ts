// Which facts the decision log is of, and what a leaf shows of each. The rest of a fact may hold
// what people wrote or a name: a leaf has a commitment to it.
import { isLosslessNumber } from 'lossless-json';
import { sha256 } from '../../platform/json/exact-json.js';
import { toCanonicalJson, type CanonicalValue } from '../../platform/json/canonical-json.js';

export interface DecisionSource {
  /** The columns of its key after the account, with the type of each. */
  key: Record<string, 'bigint' | 'int' | 'text' | 'uuid'>;
  shown: readonly string[];
  /** What the commitment covers. */
  covered: readonly string[];
}

const made = ['actor', 'created_at'] as const;
const sequence = { sequence: 'bigint' } as const;
const id = { id: 'uuid' } as const;

/** By table. Each is append-only, but for the state of a rule version, which has its history. */
export const decisionSources = {
  line_decision: {
    key: sequence,
    shown: ['nsu', 'action', ...made],
    covered: ['allocations', 'reason'],
  },
  linked_original: {
    key: { ...sequence, ordinal: 'int' },
    shown: ['nsu', 'original_nsu', 'expected_payment_id', 'amount_cents'],
    covered: [],
  },
  break_history_entry: {
    key: { break_id: 'uuid', ...sequence },
    shown: ['action', ...made],
    covered: ['reason', 'detail'],
  },
  month_decision: {
    key: { month: 'text', sequence: 'int' },
    shown: ['action', 'item', 'item_count', 'cents', 'seen', 'holder', 'role', ...made],
    covered: ['reason'],
  },
  rule_version: {
    key: { rule_id: 'uuid', version: 'int' },
    shown: ['priority', 'action', 'made_by', 'created_at'],
    covered: ['definition', 'reason'],
  },
  rule_history_entry: {
    key: id,
    shown: ['rule_id', 'version', 'action', ...made],
    covered: ['reason'],
  },
  operation_approval_request: {
    key: { operation_id: 'uuid' },
    shown: [
      ...['needed', 'source', 'condition', 'requested_by', 'holder', 'request_hash', 'expires_at'],
    ],
    covered: [],
  },
  operation_approval: {
    key: { operation_id: 'uuid', holder: 'text', actor: 'text' },
    shown: ['decision', 'created_at'],
    covered: ['reason'],
  },
  audit_entry: {
    key: id,
    shown: ['operator_id', 'action', 'at'],
    // What a browser sent, before it was validated.
    covered: ['reason', 'subject', 'shown'],
  },
  approval_policy_change: {
    key: { sequence: 'int' },
    shown: [
      ...['above_cents', 'new_beneficiary', 'kinds', 'sources', 'approvals', 'holder'],
      ...['expires_after_hours', 'is_in_force', ...made],
    ],
    covered: ['reason'],
  },
  payment_control_change: {
    key: { sequence: 'int' },
    shown: ['action', 'created_at'],
    covered: ['actor', 'reason', 'details'],
  },
  refund_policy_history_entry: {
    key: id,
    shown: ['break_kind', 'is_on', 'max_cents', ...made],
    covered: ['reason'],
  },
  account_mode_change: {
    key: { sequence: 'int' },
    shown: ['mode', 'former_mode', 'registers_webhooks', 'created_at'],
    covered: ['actor', 'reason'],
  },
  severity_steps_change: {
    key: sequence,
    shown: ['amount_steps', 'age_steps', ...made],
    covered: ['reason'],
  },
  credit_days_change: { key: sequence, shown: ['way', 'days', ...made], covered: ['reason'] },
  month_policy: {
    key: { version: 'int' },
    shown: ['max_breaks', 'max_break_cents', 'max_pending_lines', ...made],
    covered: ['reason'],
  },
  reason_code: {
    key: { code: 'text', version: 'int' },
    shown: ['is_active', ...made],
    covered: ['name', 'category', 'cost_centre', 'project', 'reason'],
  },
  price_list: { key: { version: 'int' }, shown: ['valid_from', ...made], covered: ['reason'] },
  tariff: {
    key: { version: 'int', kind: 'text' },
    shown: ['period', 'charged', 'price_cents', 'free_items', 'tier_from', 'tier_cents'],
    covered: ['text'],
  },
} satisfies Record<string, DecisionSource>;
export type DecisionKind = keyof typeof decisionSources;

/** Rights change in place: an entry has what they have become. The hash of a key is not shown. */
export const rightKinds = ['api_key', 'operator', 'operator_role'] as const;
const coveredOfRights = ['hash'];

export const isDecisionKind = (kind: string): kind is DecisionKind => kind in decisionSources;

export interface LoggedDecision {
  kind: string;
  key: string[];
  recordedAt: Date;
  salt: string;
  /** The columns of the fact; null where it is not stored (any more), or a right has ended. */
  fact: Record<string, unknown> | null;
}

/**
 * The text that the leaf of an entry is the hash of: a line of the exported log. The commitment is
 * the one that was stored with its place: what it covers may be erased, and the root stays.
 */
export function decisionText(
  accountId: number,
  { kind, key, recordedAt, fact }: LoggedDecision,
  commitment: string | null,
): string {
  return toCanonicalJson({
    ...{ format: 'concilia-decision/1', accountId, kind, key, commitment },
    recordedAt: recordedAt.toISOString(),
    fact: fact && valuesOf({ kind, fact }, false),
  });
}

export function commitmentOfDecision({ kind, salt, fact }: LoggedDecision): string {
  return sha256(salt + toCanonicalJson(fact && valuesOf({ kind, fact }, true)));
}

/** Of a fact, what its commitment covers or what its leaf shows. */
function valuesOf(
  { kind, fact }: { kind: string; fact: Record<string, unknown> },
  isCovered: boolean,
): Record<string, CanonicalValue> {
  const isOfSource = isDecisionKind(kind);
  const covered: readonly string[] = isOfSource ? decisionSources[kind].covered : coveredOfRights;
  const names = isOfSource ? [...decisionSources[kind].shown, ...covered] : Object.keys(fact);
  return Object.fromEntries(
    names
      .filter((name) => covered.includes(name) === isCovered)
      .map((name) => [name, canonicalOf(name, fact[name])]),
  );
}

/** Times as the service writes them, whatever the zone of the session; numbers by their digits. */
function canonicalOf(name: string, value: unknown): CanonicalValue {
  if (value === null || value === undefined) return null;
  const isTime = name === 'at' || name.endsWith('_at');
  if (isTime && typeof value === 'string') return new Date(value).toISOString();
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((one) => canonicalOf('', one));
  if (isLosslessNumber(value)) return value.value;
  if (typeof value !== 'object') return String(value as number);
  const fields = Object.entries(value);
  return Object.fromEntries(fields.map(([key, one]) => [key, canonicalOf('', one)]));
}
