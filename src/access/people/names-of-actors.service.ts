// The names of those who acted: people by e-mail, API keys by name. A page or a file asks once for
// all actors that it shows.
import { Injectable } from '@nestjs/common';
import { operatorIdOf } from '../accounts/actor.js';
import { ApiKeysService } from '../accounts/api-keys.service.js';
import { isUuid } from '../../platform/http/listing.js';
import { Operators } from './operators.service.js';

const policy = 'policy';

/**
 * The name of an actor, in the reader's language. Null stands for the service itself. The
 * administration's API lets a caller give a name: it is shown as it is.
 */
export type NameOfActor = (actor: string | null) => string;

/** Of actors without a name, in the reader's language. */
interface ActorWords {
  service: string;
  policy: string;
  person: string;
  settingsKey: string;
  key: (name: string) => string;
}

@Injectable()
export class NamesOfActors {
  constructor(
    private readonly operators: Operators,
    private readonly keys: ApiKeysService,
  ) {}

  /** An e-mail that is not visible is shown by its first letter. */
  async find(
    accountId: number,
    actors: readonly (string | null)[],
    { isVisible, words }: { isVisible: boolean; words: ActorWords },
  ): Promise<NameOfActor> {
    const [people, keys] = await Promise.all([
      this.operators.findEmails(actors.flatMap((actor) => personIn(actor) ?? [])),
      this.keys.findNames(
        accountId,
        actors.filter((actor) => actor !== null && isUuid(actor)) as string[],
      ),
    ]);
    return (actor) => {
      if (actor === null) return words.service;
      if (actor === policy) return words.policy;
      if (operatorIdOf(actor) === null) {
        if (!isUuid(actor)) return actor;
        const name = keys.get(actor.toLowerCase());
        return name === null ? words.settingsKey : words.key(name ?? actor.slice(0, 8));
      }
      const email = people.get(personIn(actor) ?? '');
      if (email === undefined) return words.person;
      return isVisible ? email : `${[...email][0] ?? ''}***`;
    };
  }
}

/** The operator's id of an actor that is a person; null for another actor. */
function personIn(actor: string | null): string | null {
  const id = actor === null ? null : operatorIdOf(actor)?.toLowerCase();
  return id && isUuid(id) ? id : null;
}
