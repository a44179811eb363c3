// Who may work on the breaks of an account, by name.
import { Injectable } from '@nestjs/common';
import { personActor } from '../../access/accounts/actor.js';
import { Operators } from '../../access/people/operators.service.js';
import { isAllowed } from '../../access/people/roles.js';
import { ActorNames } from '../actor-names.service.js';
import type { Visit } from '../visit.js';
import type { Assignee } from './break-words.js';

const maxListed = 200;

@Injectable()
export class Assignees {
  constructor(
    private readonly operators: Operators,
    private readonly names: ActorNames,
  ) {}

  async list(visit: Visit): Promise<Assignee[]> {
    const page = { limit: maxListed, after: null };
    const people = (await this.operators.list(visit.accountId, page)).filter(
      ({ state, roleEverywhere, roles }) =>
        state !== 'disabled' &&
        [roleEverywhere, ...roles.map(({ role }) => role)].some((role) =>
          isAllowed(role, 'resolve breaks'),
        ),
    );
    const ids = people.map(({ id }) => id);
    const nameOf = await this.names.find(visit, ids.map(personActor));
    return ids.map((id) => [id, nameOf(personActor(id))]);
  }
}
