// The names of those who acted: people by e-mail, API keys by name. A page asks once for all actors
// that it shows.
import { Injectable } from '@nestjs/common';
import { operatorIdOf } from '../access/accounts/actor.js';
import { ApiKeysService } from '../access/accounts/api-keys.service.js';
import { Operators } from '../access/people/operators.service.js';
import { isUuid } from '../platform/http/listing.js';
import type { Visit } from './visit.js';

const policy = 'policy';

/**
 * The name of an actor, in the person's language. Null stands for the service itself. The
 * administration's API lets a caller give a name: it is shown as it is.
 */
export type NameOfActor = (actor: string | null) => string;

@Injectable()
export class ActorNames {
  constructor(
    private readonly operators: Operators,
    private readonly keys: ApiKeysService,
  ) {}

  /** Without `see personal data`, an e-mail is shown by its first letter. */
  async find(visit: Visit, actors: readonly (string | null)[]): Promise<NameOfActor> {
    const { t } = visit;
    const [people, keys] = await Promise.all([
      this.operators.findEmails(actors.flatMap((actor) => personIn(actor) ?? [])),
      this.keys.findNames(
        visit.accountId,
        actors.filter((actor) => actor !== null && isUuid(actor)) as string[],
      ),
    ]);
    const isVisible = visit.may('see personal data');
    return (actor) => {
      if (actor === null) return t('actor.service');
      if (actor === policy) return t('actor.policy');
      if (operatorIdOf(actor) === null) {
        if (!isUuid(actor)) return actor;
        const name = keys.get(actor.toLowerCase());
        if (name === null) return t('actor.settingsKey');
        return t('actor.key', { name: name ?? actor.slice(0, 8) });
      }
      const email = people.get(personIn(actor) ?? '');
      if (email === undefined) return t('actor.person');
      return isVisible ? email : `${[...email][0] ?? ''}***`;
    };
  }
}

/** The operator's id of an actor that is a person; null for another actor. */
function personIn(actor: string | null): string | null {
  const id = actor === null ? null : operatorIdOf(actor)?.toLowerCase();
  return id && isUuid(id) ? id : null;
}
