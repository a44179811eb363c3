// Who may still decide. What a key or a person approved or proposed counts only while they may
// still do it: a key that was revoked, or a person without the role, counts no more.
import { operatorIdOf, splitActors } from '../../access/accounts/actor.js';
import { listApprovingKeys, lockKeys } from '../../access/accounts/holders.queries.js';
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import { listRolesIn, lockPeople } from '../../access/people/operators.queries.js';
import { isAllowed, type Action } from '../../access/people/roles.js';

/** Until the transaction ends, no key of them is revoked, and no person loses a role. */
export async function lockActors(
  tx: Tx,
  accountId: number,
  actors: readonly string[],
): Promise<void> {
  const { keys, people } = splitActors(actors);
  if (people.length > 0) await lockPeople(tx, people);
  if (keys.length > 0) await lockKeys(tx, accountId, keys);
}

/**
 * Those of the actors who may do it in the account: keys by their scope, people by their role.
 * `before`: only people who could sign in by then.
 */
export async function findEntitled(
  db: Db,
  accountId: number,
  actors: readonly string[],
  action: Action,
  before: Date | null = null,
): Promise<ReadonlySet<string>> {
  const { keys, people } = splitActors(actors);
  const approving = keys.length > 0 ? await listApprovingKeys(db, accountId, keys) : [];
  const roles = people.length > 0 ? await listRolesIn(db, accountId, people, before) : [];
  const allowed = new Set(roles.filter(({ role }) => isAllowed(role, action)).map(({ id }) => id));
  const ids = new Set(approving.map(({ id }) => id));
  return new Set(
    actors.filter((actor) => {
      const operatorId = operatorIdOf(actor);
      return operatorId === null ? ids.has(actor) : allowed.has(operatorId);
    }),
  );
}
