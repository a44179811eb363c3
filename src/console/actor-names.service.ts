// The names of those who acted: people by e-mail, API keys by name. A page asks once for all actors
// that it shows.
import { Injectable } from '@nestjs/common';
import { ApiKeysService } from '../accounts/api-keys.service.js';
import { Operators } from '../operators/operators.service.js';
import { isUuid } from '../platform/listing.js';
import type { Visit } from './requests.js';
import { accountOf, isAllowedTo } from './visit.js';

const personPrefix = 'person:';
const policy = 'policy';

/** The name of an actor, in the person's language. Null stands for the service itself. */
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
        accountOf(visit).id,
        actors.filter((actor) => actor !== null && isUuid(actor)) as string[],
      ),
    ]);
    const isVisible = isAllowedTo(visit, 'see personal data');
    return (actor) => {
      if (actor === null) return t('actor.service');
      if (actor === policy) return t('actor.policy');
      const person = personIn(actor);
      if (person === null) {
        const name = keys.get(actor.toLowerCase());
        if (name === null) return t('actor.settingsKey');
        return t('actor.key', { name: name ?? actor.slice(0, 8) });
      }
      const email = people.get(person);
      if (email === undefined) return t('actor.person');
      return isVisible ? email : `${[...email][0] ?? ''}***`;
    };
  }
}

/** The id of the person; null for another actor. */
function personIn(actor: string | null): string | null {
  if (!actor?.startsWith(personPrefix)) return null;
  const id = actor.slice(personPrefix.length).toLowerCase();
  return isUuid(id) ? id : null;
}
