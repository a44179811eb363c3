// Defines faults and decides when a fault fires. A fault with a probability has a seed: its n-th
// chance has the same result in every run.
import type { HttpMethod } from '../../bank-contract/route.js';
import { sha256 } from '../../platform/json/exact-json.js';
import type { PixFailureCode } from './pix-failures.js';

/** The endpoints that a fault can be set for. */
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

/** Kinds that lose the response after the effect of the request. */
export const afterEffectKinds = [
  'error-after-effect',
  'hang-after-effect',
  'reset-after-effect',
] as const;
/** Kinds that lose or damage the response. */
export const responseKinds = [...afterEffectKinds, 'truncated', 'garbage', 'empty'] as const;
/** Kinds that apply to the request itself, at any endpoint. */
export const callKinds = ['error-before-effect', ...responseKinds, 'slow'] as const;
export const webhookKinds = [
  'webhook-lost',
  'webhook-late',
  'webhook-twice',
  'webhook-reordered',
  'webhook-forged',
] as const;
/**
 * Kinds that apply when the statement is read, except `line-withheld`, which fires when the line is
 * posted.
 */
export const statementKinds = ['statement-lag', 'page-shift', 'line-withheld'] as const;
/** What banks do to payments that they have accepted (real-bank.md A.13). */
export const habitKinds = [
  /** A Pix gets no final status before the next multiple of the delay: many end together. */
  'status-stuck',
  /** A Pix is undone by a late credit without a webhook. */
  'undone-silently',
  /** A Pix is debited again, with the same ids. */
  'debited-twice',
  /** A refund fails at once, and its money comes back after the delay. */
  'refund-held',
] as const;
export const faultKinds = [
  ...callKinds,
  'async-error',
  'new-end-to-end-id',
  'partial-batch',
  ...habitKinds,
  ...webhookKinds,
  ...statementKinds,
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface FaultRequest {
  endpoint: FaultEndpoint;
  kind: FaultKind;
  /** The method that the fault applies to; without it, the default of the endpoint. */
  method?: HttpMethod | null;
  /** How often it fires; null for no limit. */
  times: number | null;
  /** The probability that it fires, from 0 to 1; null for always. */
  probability: number | null;
  seed: number;
  /** Why a Pix fails by `async-error`; null for the default of its endpoint. */
  code?: PixFailureCode | null;
  /** Duration of a hang, slow response, late webhook or line; null for the default of the kind. */
  delayMs: number | null;
}

export interface Fault extends FaultRequest {
  id: string;
  /** How often it could have fired, and how often it did. */
  chances: number;
  fired: number;
}

/** The durations of faults without `delayMs`. A statement lag ends well within ten seconds. */
const defaultDelaysMs: Partial<Record<FaultKind, number>> = {
  'hang-after-effect': 5_000,
  slow: 2_000,
  'async-error': 300,
  'status-stuck': 5_000,
  'undone-silently': 5_000,
  'debited-twice': 0,
  'refund-held': 5_000,
  'webhook-late': 5_000,
  'webhook-reordered': 2_000,
  'statement-lag': 3_000,
  'line-withheld': 5_000,
};

export function faultDelayMs({ kind, delayMs }: Pick<Fault, 'kind' | 'delayMs'>): number {
  return delayMs ?? defaultDelaysMs[kind] ?? 0;
}

/** Endpoints, besides `*`, of kinds that do not apply to the request itself. */
const endpointsByKind: Partial<Record<FaultKind, readonly FaultEndpoint[]>> = {
  'async-error': ['transfers', 'bill-payments', 'refunds'],
  'new-end-to-end-id': ['transfers'],
  'partial-batch': ['batch'],
  'status-stuck': ['transfers'],
  'undone-silently': ['transfers'],
  'debited-twice': ['transfers'],
  'refund-held': ['refunds'],
  'page-shift': ['transactions'],
  'statement-lag': ['transactions'],
  'line-withheld': [
    ...(['transactions', 'charges', 'qrcode', 'transfers', 'batch'] as const),
    ...(['bill-payments', 'refunds'] as const),
  ],
};
/** Webhook faults can also be limited to the chapter of the event. */
const webhookEndpoints: readonly FaultEndpoint[] = [
  ...(['webhooks', 'charges', 'qrcode', 'transfers', 'batch', 'refunds'] as const),
];

/** The endpoints at which a kind can fire; null for all. */
export function endpointsOfKind(kind: FaultKind): readonly FaultEndpoint[] | null {
  return (webhookKinds as readonly FaultKind[]).includes(kind)
    ? webhookEndpoints
    : (endpointsByKind[kind] ?? null);
}

/** Whether a fault fires on its next chance. It never fires beyond `times`. */
export function doesFire(fault: Fault): boolean {
  const { times, fired, probability, seed, chances } = fault;
  if (times !== null && fired >= times) return false;
  return probability === null || seededFraction(seed, chances) < probability;
}

/** The n-th pseudo-random number of a seed, at least 0 and below 1. */
export function seededFraction(seed: number, n: number): number {
  return Number.parseInt(sha256(`${seed}:${n}`).slice(0, 12), 16) / 2 ** 48;
}
