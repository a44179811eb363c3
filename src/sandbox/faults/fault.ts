// What a fault is and when it fires. Drawn from a seed, the n-th chance of a fault ends the same way in every run.
import type { HttpMethod } from '../../contract/route.js';
import { sha256 } from '../../platform/exact-json.js';

/** The chapters that a fault can be aimed at. */
export const faultEndpoints = [
  'charges',
  'qrcode',
  'lookup',
  'transfers',
  'batch',
  'bill-payments',
  'refunds',
  'transactions',
  'webhooks',
  '*',
] as const;
export type FaultEndpoint = (typeof faultEndpoints)[number];

/** The answer is lost, after whatever effect the call has. */
export const afterEffectKinds = [
  'error-after-effect',
  'hang-after-effect',
  'reset-after-effect',
] as const;
/** The answer is lost or spoiled. */
export const answerKinds = [...afterEffectKinds, 'truncated', 'garbage', 'empty'] as const;
/** Played on the call itself, at any endpoint. */
export const callKinds = ['error-before-effect', ...answerKinds, 'slow'] as const;
export const webhookKinds = [
  'webhook-lost',
  'webhook-late',
  'webhook-twice',
  'webhook-reordered',
  'webhook-forged',
] as const;
/** Played on whoever reads the statement, save the last, which a line has from its beginning. */
export const statementKinds = ['statement-lag', 'page-shift', 'line-withheld'] as const;
export const faultKinds = [
  ...callKinds,
  'async-error',
  'partial-batch',
  ...webhookKinds,
  ...statementKinds,
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface FaultRequest {
  endpoint: FaultEndpoint;
  kind: FaultKind;
  /** The calls that it strikes; left out, those that its endpoint means. */
  method?: HttpMethod | null;
  /** How often it fires; null for no end. */
  times: number | null;
  /** The chance that it fires, 0 to 1; null is always. */
  probability: number | null;
  seed: number;
  /** How long a hang, a slow answer, a late webhook or line takes; null is the kind's own. */
  delayMs: number | null;
}

export interface Fault extends FaultRequest {
  id: string;
  /** Chances that it had, and how many of them it took. */
  chances: number;
  fired: number;
}

/** How long each kind takes when the fault does not say; a lag ends well within ten seconds. */
const defaultDelaysMs: Partial<Record<FaultKind, number>> = {
  'hang-after-effect': 5_000,
  slow: 2_000,
  'async-error': 300,
  'webhook-late': 5_000,
  'webhook-reordered': 2_000,
  'statement-lag': 3_000,
  'line-withheld': 5_000,
};

export function delayOf({ kind, delayMs }: Pick<Fault, 'kind' | 'delayMs'>): number {
  return delayMs ?? defaultDelaysMs[kind] ?? 0;
}

/** Endpoints, beside `*`, at which a kind that is not played on the call itself can fire. */
const aims: Partial<Record<FaultKind, readonly FaultEndpoint[]>> = {
  'async-error': ['transfers', 'bill-payments', 'refunds'],
  'partial-batch': ['batch'],
  'page-shift': ['transactions'],
  'statement-lag': ['transactions'],
  'line-withheld': [
    ...(['transactions', 'charges', 'qrcode', 'transfers', 'batch'] as const),
    ...(['bill-payments', 'refunds'] as const),
  ],
};
/** Webhooks are also told apart by what they tell of. */
const webhookAims: readonly FaultEndpoint[] = [
  ...(['webhooks', 'charges', 'qrcode', 'transfers', 'batch', 'refunds'] as const),
];

/** The endpoints at which a kind can fire; null for all. */
export function aimsOf(kind: FaultKind): readonly FaultEndpoint[] | null {
  return (webhookKinds as readonly FaultKind[]).includes(kind) ? webhookAims : (aims[kind] ?? null);
}

/** Whether a fault takes its next chance; a count ends it. */
export function fires(fault: Fault): boolean {
  const { times, fired, probability, seed, chances } = fault;
  if (times !== null && fired >= times) return false;
  return probability === null || draw(seed, chances) < probability;
}

/** The n-th number of a seed, at least 0 and below 1. */
export function draw(seed: number, n: number): number {
  return Number.parseInt(sha256(`${seed}:${n}`).slice(0, 12), 16) / 2 ** 48;
}
