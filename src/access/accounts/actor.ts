// Who acts, as it is stored with what they do: the id of an API key, or `person:` and the id of an
// operator. So the same columns, and the same rules, hold for business systems and for people.

const personPrefix = 'person:';

/** The actor of a person of the console. */
export function personActor(operatorId: string): string {
  return `${personPrefix}${operatorId}`;
}

/** The operator's id of an actor that is a person; null for an API key. */
export function operatorIdOf(actor: string): string | null {
  return actor.startsWith(personPrefix) ? actor.slice(personPrefix.length) : null;
}

/** Keys and people among actors, each by their own id. */
export function splitActors(actors: readonly string[]): { keys: string[]; people: string[] } {
  const people = actors.map(operatorIdOf).filter((id) => id !== null);
  return { keys: actors.filter((actor) => operatorIdOf(actor) === null), people };
}
