// The lists that the database repeats of the declarations.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { scopes } from '../../../src/access/accounts/scope.decorator.js';
import { chargeStatusEventTypes } from '../../../src/outbound/charges/charge-status.js';
import { OperationState } from '../../../src/generated/service/enums.js';
import { finalStates } from '../../../src/outbound/operation-states.js';
import { policyKinds } from '../../../src/reconciliation/decide/break-kinds.js';
import { anchorKinds } from '../../../src/reporting/anchors/anchors.queries.js';
import { readFailures } from '../../../src/statement/lines/statement-line.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';

const otherStates = Object.values(OperationState).filter((one) => !finalStates.includes(one));

/** The declared list of each CHECK that lists words. */
const declaredLists: Record<string, readonly string[]> = {
  api_key_scopes: scopes,
  head_anchor_kind: anchorKinds,
  operation_final_has_end: finalStates,
  operation_unfinished_has_next_action: otherStates,
  refund_policy_kind: policyKinds,
  statement_state_read_failure: readFailures,
  webhook_counterparty_reference: ['nsu', 'end_to_end_id'],
};

let service: ServiceDatabase;
beforeAll(async () => {
  service = await serviceDatabase();
});
afterAll(() => service.drop());

it('each CHECK of the database that lists words lists those that are declared', async () => {
  const { rows } = await service.database.pool.query<{ name: string; definition: string }>(
    `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE contype = 'c' AND connamespace = 'public'::regnamespace`,
  );
  const lists = rows
    .filter(({ definition }) => /ARRAY\['[^']*'::(text|operation_state)/.test(definition))
    .map(({ name, definition }) => [
      name,
      [...definition.matchAll(/'([^']*)'::(?:text|operation_state)/g)]
        .map(([, word]) => word)
        .sort(),
    ]);
  expect(Object.fromEntries(lists)).toEqual(
    Object.fromEntries(
      Object.entries(declaredLists).map(([name, list]) => [name, [...list].sort()]),
    ),
  );
});

it('the trigger that relays webhooks of charges lists those that are declared', async () => {
  const { rows } = await service.database.pool.query<{ source: string }>(
    `SELECT prosrc AS source FROM pg_proc WHERE prosrc LIKE '%INSERT INTO relay_delivery%'`,
  );
  const words = chargeStatusEventTypes.map((type) => `'${type}'`).join(', ');
  expect(rows.map(({ source }) => source)).toContainEqual(
    expect.stringContaining(`w.event_type IN (${words})`),
  );
});
