// The faults of a round, at the endpoints where each kind can occur.
import {
  endpointsOfKind,
  callKinds,
  faultEndpoints,
  faultKinds,
  type FaultEndpoint,
  type FaultKind,
} from '../../src/sandbox/faults/fault.js';

export interface ChaosFault {
  endpoint: FaultEndpoint;
  kind: FaultKind;
  probability: number;
  seed: number;
  delayMs?: number;
}

/**
 * Shorter than the sandbox bank's defaults, so that a round is short. Each is well below the time
 * within which an effect becomes visible.
 */
const delaysMs: Partial<Record<FaultKind, number>> = {
  'hang-after-effect': 1_500,
  slow: 700,
  'status-stuck': 2_500,
  'undone-silently': 2_500,
  'refund-held': 2_500,
  'webhook-late': 2_500,
  'webhook-reordered': 1_500,
  'statement-lag': 2_500,
  'line-withheld': 3_000,
};

/** Probabilities when all kinds are active. Together they affect about one call in three. */
const probabilities: Partial<Record<FaultKind, number>> = {
  'async-error': 0.15,
  'partial-batch': 0.4,
  'statement-lag': 0.15,
  'line-withheld': 0.15,
  'page-shift': 0.05,
};
const defaultProbability = 0.05;
const probabilityOfSingleKind = 0.4;

export function faultsForRound(fault: FaultKind | 'all' | 'none', seed: number): ChaosFault[] {
  if (fault === 'none') return [];
  if (fault === 'all')
    return faultKinds.map((kind, index) =>
      newFault('*', kind, probabilities[kind] ?? defaultProbability, seed * 100 + index),
    );
  return endpointsOf(fault).map((endpoint, index) =>
    newFault(endpoint, fault, probabilityOfSingleKind, seed * 100 + index),
  );
}

function endpointsOf(kind: FaultKind): readonly FaultEndpoint[] {
  const endpoints = endpointsOfKind(kind);
  if (!endpoints) return faultEndpoints.filter((endpoint) => endpoint !== '*');
  // A line or a webhook that two endpoints cover would be affected twice.
  const isCall = (callKinds as readonly FaultKind[]).includes(kind);
  const general = (['transactions', 'webhooks'] as const).find((endpoint) =>
    endpoints.includes(endpoint),
  );
  return !isCall && general ? [general] : endpoints;
}

function newFault(endpoint: FaultEndpoint, kind: FaultKind, probability: number, seed: number) {
  const delayMs = delaysMs[kind];
  return { endpoint, kind, probability, seed, ...(delayMs === undefined ? {} : { delayMs }) };
}
