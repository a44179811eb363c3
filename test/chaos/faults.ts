// The faults of a round, aimed at where each can fire.
import {
  aimsOf,
  callKinds,
  faultEndpoints,
  faultKinds,
  type FaultEndpoint,
  type FaultKind,
} from '../../src/sandbox/faults/fault.js';

export interface WantedFault {
  endpoint: FaultEndpoint;
  kind: FaultKind;
  probability: number;
  seed: number;
  delayMs?: number;
}

/** Shorter than the bank's own, so that a round is; each well within the time in which effects become visible. */
const delaysMs: Partial<Record<FaultKind, number>> = {
  'hang-after-effect': 1_500,
  slow: 700,
  'webhook-late': 2_500,
  'webhook-reordered': 1_500,
  'statement-lag': 2_500,
  'line-withheld': 3_000,
};

/** How likely each is when all are at work: together they spoil about one call in three. */
const shares: Partial<Record<FaultKind, number>> = {
  'async-error': 0.15,
  'partial-batch': 0.4,
  'statement-lag': 0.15,
  'line-withheld': 0.15,
  'page-shift': 0.05,
};
const otherShare = 0.05;
const shareAlone = 0.4;

export function faultsOf(fault: FaultKind | 'all' | 'none', seed: number): WantedFault[] {
  if (fault === 'none') return [];
  if (fault === 'all')
    return faultKinds.map((kind, place) =>
      wanted('*', kind, shares[kind] ?? otherShare, seed * 100 + place),
    );
  return endpointsOf(fault).map((endpoint, place) =>
    wanted(endpoint, fault, shareAlone, seed * 100 + place),
  );
}

function endpointsOf(kind: FaultKind): readonly FaultEndpoint[] {
  const aims = aimsOf(kind);
  if (!aims) return faultEndpoints.filter((endpoint) => endpoint !== '*');
  // A line or a webhook told of by two aims would be struck twice.
  const isCall = (callKinds as readonly FaultKind[]).includes(kind);
  const general = (['transactions', 'webhooks'] as const).find((aim) => aims.includes(aim));
  return !isCall && general ? [general] : aims;
}

function wanted(endpoint: FaultEndpoint, kind: FaultKind, probability: number, seed: number) {
  const delayMs = delaysMs[kind];
  return { endpoint, kind, probability, seed, ...(delayMs === undefined ? {} : { delayMs }) };
}
