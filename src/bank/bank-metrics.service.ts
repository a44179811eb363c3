// What is seen of the bank: its calls by outcome, their time, and the circuit breakers.
import { Injectable } from '@nestjs/common';
import type { Route } from '../bank-contract/route.js';
import { countBy } from '../platform/grouping.js';
import { counter, histogram } from '../platform/metrics/instruments.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { BankLimits } from './bank-limits.service.js';
import { breakerStates } from './circuit-breaker.js';
import { endpointClasses, endpointClassOf } from './endpoint-class.js';
import { unknownReasons, type BankResponse } from './response-classification.js';

/** The names of the contract's routes. */
const labels = { class: endpointClasses, route: /^[a-zA-Z0-9]+$/ };

const calls = counter({
  name: 'concilia_bank_requests_total',
  help: 'Requests to the bank by outcome: success, rejection, or why the outcome is unknown.',
  labels: { ...labels, outcome: ['success', 'rejection', ...unknownReasons] },
});
const durations = histogram({
  name: 'concilia_bank_request_duration_seconds',
  help: 'Time of a request to the bank with its waits for the rate limit; without those not sent.',
  labels,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
});

/** Counts and times a call that has ended. */
export function recordBankCall(
  route: Route,
  response: BankResponse<unknown>,
  durationMs: number,
): void {
  const of = { class: endpointClassOf(route), route: route.name };
  const outcome = response.outcome === 'unknown' ? response.reason : response.outcome;
  calls.inc({ ...of, outcome });
  if (outcome !== 'not_sent') durations.observe(of, durationMs / 1_000);
}

@Injectable()
export class BankMetrics {
  constructor(metrics: Metrics, limits: BankLimits) {
    const breakers = metrics.gauge({
      name: 'concilia_bank_circuit_breakers',
      help: 'Circuit breakers of this process, one for each account and class that was called.',
      labels: { class: endpointClasses, state: breakerStates },
    });
    metrics.observe(() => {
      const counts = countBy(limits.listBreakers(), (one) => `${one.endpointClass} ${one.state}`);
      for (const endpointClass of endpointClasses)
        for (const state of breakerStates)
          breakers.set(
            { class: endpointClass, state },
            counts.get(`${endpointClass} ${state}`) ?? 0,
          );
    });
  }
}
