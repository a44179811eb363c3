// What a change of the API reference breaks for clients. A request that was valid must stay valid,
// and a client that reads a response by the earlier reference must be able to read the later one:
// each is a question whether all values of one schema fit another.

type Json = Record<string, unknown>;
type Schema = Json & { $ref?: string };

/** `request`: the later reference must take what the earlier one took. */
type Direction = 'request' | 'response';

interface Fit {
  /** Where the schema is, for people. */
  at: string;
  direction: Direction;
  /** Every value of it … */
  narrow: unknown;
  /** … must fit this one. */
  wide: unknown;
}

/** What breaks for clients of `before` when `after` is served, each once. */
export function apiBreaks(before: object, after: object): string[] {
  return [...new Set(new Comparison(before as Json, after as Json).run())];
}

/** Keywords that bound a value from below, from above, and those that must be the same. */
const least = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const most = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const same = ['format', 'pattern', 'contentMediaType'];

class Comparison {
  private readonly known = new Map<string, string[]>();

  constructor(
    private readonly before: Json,
    private readonly after: Json,
  ) {}

  run(): string[] {
    return [
      ...this.operations('paths').flatMap(([at, one, other]) => this.operation(at, one, other)),
      ...this.operations('webhooks').flatMap(([at, one, other]) =>
        other
          ? this.fit({ at, direction: 'response', narrow: sentBy(other), wide: sentBy(one) })
          : [`${at}: is gone`],
      ),
    ];
  }

  /** The operations of the earlier reference, each with the later one. */
  private operations(part: 'paths' | 'webhooks'): [string, Json, Json | undefined][] {
    const later = partOf(this.after, part);
    return Object.entries(partOf(this.before, part)).flatMap(([path, methods]) =>
      Object.entries(methods as Json).map(([method, one]): [string, Json, Json | undefined] => [
        `${method.toUpperCase()} ${path}`,
        one as Json,
        partOf(later, path)[method] as Json | undefined,
      ]),
    );
  }

  private operation(at: string, one: Json, other: Json | undefined): string[] {
    if (!other) return [`${at}: is gone`];
    const changed = ['operationId', 'security', 'x-required-scope'].filter(
      (name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]),
    );
    const [earlier, later] = [partOf(one, 'responses'), partOf(other, 'responses')];
    const added = Object.keys(later).filter((status) => earlier[status] === undefined);
    return [
      ...changed.map((name) => `${at}: ${name} is another`),
      ...this.fit({ at, direction: 'request', narrow: requestOf(one), wide: requestOf(other) }),
      ...added.map((status) => `${at}: has the new status ${status}`),
      ...Object.entries(earlier).flatMap(([status, response]) => {
        // A client that reads an error that no more comes loses nothing.
        if (later[status] === undefined) return status < '300' ? [`${at} ${status}: is gone`] : [];
        const wide = responseOf(resolved(this.before, response));
        const narrow = responseOf(resolved(this.after, later[status]));
        return this.fit({ at: `${at} ${status}`, direction: 'response', narrow, wide });
      }),
    ];
  }

  /** Why a value of `narrow` may not fit `wide`. A pair of named schemas is compared once. */
  private fit({ at, direction, narrow, wide }: Fit): string[] {
    const [inner, outer] = [narrow, wide].map((of) => (of ?? {}) as Schema) as [Schema, Schema];
    if (inner.$ref === undefined || outer.$ref === undefined)
      return this.fitResolved({ at, direction, narrow: inner, wide: outer });
    const key = `${direction} ${inner.$ref} ${outer.$ref}`;
    const found = this.known.get(key);
    if (found) return found;
    // What refers to itself fits where the rest does.
    this.known.set(key, []);
    const name = `${outer.$ref.split('/').at(-1)} (${direction})`;
    const problems = this.fitResolved({ at: name, direction, narrow: inner, wide: outer });
    this.known.set(key, problems);
    return problems;
  }

  private fitResolved({ at, direction, narrow, wide }: Fit): string[] {
    const isRequest = direction === 'request';
    const [ofNarrow, ofWide] = isRequest ? [this.before, this.after] : [this.after, this.before];
    const members = alternatives(ofNarrow, narrow as Schema);
    const choices = alternatives(ofWide, wide as Schema);
    return members.flatMap((member) => {
      // The problems with the choice that it fits best.
      let best: string[] | undefined;
      for (const choice of choices) {
        const problems = this.fitOne({ at, direction, narrow: member, wide: choice });
        if (problems.length === 0) return [];
        if (!best || problems.length < best.length) best = problems;
      }
      return best ?? [];
    });
  }

  private fitOne(fit: Fit): string[] {
    const [narrow, wide] = [fit.narrow, fit.wide] as [Json, Json];
    return [...valueProblems(fit.at, narrow, wide), ...this.fitParts(fit, narrow, wide)];
  }

  private fitParts({ at, direction }: Fit, narrow: Json, wide: Json): string[] {
    const [has, takes] = [partOf(narrow, 'properties'), partOf(wide, 'properties')];
    const always = (narrow['required'] ?? []) as string[];
    const needed = ((wide['required'] ?? []) as string[]).filter((name) => !always.includes(name));
    const isRequest = direction === 'request';
    const [mayHaveMore, takesMore] = [narrow, wide].map((one) =>
      isObject(one['additionalProperties']),
    ) as [boolean, boolean];
    // A request must not have what is unknown now; a response must have what was known.
    const [from, known] = isRequest ? [has, takes] : [takes, has];
    const lost = Object.keys(from).filter((name) => known[name] === undefined);
    return [
      ...needed.map((name) => `${at}.${name}: ${isRequest ? 'is required' : 'may be absent'} now`),
      ...lost
        .filter((name) => !needed.includes(name) && !(isRequest && takesMore))
        .map((name) => `${at}.${name}: is gone`),
      ...(isRequest && mayHaveMore && !takesMore ? [`${at}: takes no other fields now`] : []),
      ...Object.keys(has).flatMap((name) =>
        takes[name] === undefined
          ? []
          : this.fit({ at: `${at}.${name}`, direction, narrow: has[name], wide: takes[name] }),
      ),
      ...['items', 'additionalProperties'].flatMap((part) =>
        isObject(narrow[part]) && isObject(wide[part])
          ? this.fit({ at: `${at}[]`, direction, narrow: narrow[part], wide: wide[part] })
          : [],
      ),
    ];
  }
}

/** What the values themselves may not be. */
function valueProblems(at: string, narrow: Json, wide: Json): string[] {
  const [type, asked] = [narrow['type'], wide['type']];
  const isOfType =
    asked === undefined || type === asked || (type === 'integer' && asked === 'number');
  if (!isOfType) return [`${at}: is ${said(type)}, not ${said(asked)}`];
  const [words, known] = [wordsOf(narrow), wordsOf(wide)];
  const strange = known ? (words ?? ['any value']).filter((one) => !known.includes(one)) : [];
  const bound = (name: string) => wide[name] as number | undefined;
  const isBeyond = (name: string, sign: 1 | -1) => {
    const [own, limit] = [narrow[name] as number | undefined, bound(name)];
    return limit !== undefined && (own === undefined || (own - limit) * sign < 0);
  };
  return [
    ...(strange.length > 0 ? [`${at}: has ${strange.join(', ')} beyond what it had`] : []),
    ...(words ? [] : same.filter((name) => wide[name] !== undefined && narrow[name] !== wide[name]))
      .concat(words ? [] : least.filter((name) => isBeyond(name, 1)))
      .concat(words ? [] : most.filter((name) => isBeyond(name, -1)))
      .map((name) => `${at}: ${name} is narrower`),
  ];
}

/** The forms that a value may have: members of unions, and each of several types. */
function alternatives(document: Json, schema: Schema): Json[] {
  const found = knownAlternatives.get(schema);
  if (found) return found;
  const all = findAlternatives(document, schema);
  knownAlternatives.set(schema, all);
  return all;
}

const knownAlternatives = new WeakMap<object, Json[]>();

function findAlternatives(document: Json, schema: Schema): Json[] {
  const own = merged(document, schema);
  const members = (own['anyOf'] ?? own['oneOf']) as Schema[] | undefined;
  if (members) return members.flatMap((member) => alternatives(document, member));
  const { type } = own;
  if (!Array.isArray(type)) return [own];
  return type.map((one: unknown) => (one === 'null' ? { type: one } : { ...own, type: one }));
}

/** The schema with what it refers to, and with the parts of an `allOf` as one. */
function merged(document: Json, schema: Schema): Json {
  const { allOf, ...own } = resolved(document, schema);
  const parts = ((allOf ?? []) as Schema[]).map((part) => merged(document, part));
  return parts.reduce<Json>(
    (all, part) => ({
      ...{ ...all, ...part },
      properties: { ...partOf(all, 'properties'), ...partOf(part, 'properties') },
      required: [all, part].flatMap((one) => (one['required'] ?? []) as string[]),
    }),
    own,
  );
}

function resolved(document: Json, value: unknown): Json {
  const { $ref } = value as Schema;
  if ($ref === undefined) return value as Json;
  const found = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((of, part) => (of as Json)[part], document);
  return resolved(document, found);
}

/** A request as one object: its parameters and its body. */
function requestOf(operation: Json): Json {
  const parameters = (operation['parameters'] ?? []) as (Json & { in: string; name: string })[];
  const body = bodyOf(partOf(operation, 'requestBody'));
  const isNeeded = partOf(operation, 'requestBody')['required'] === true;
  const nameOf = (one: { in: string; name: string }) => `${one.in} ${one.name}`;
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(parameters.map((one) => [nameOf(one), one['schema']])),
      ...body,
    },
    required: [
      ...parameters.filter(({ required }) => required === true).map(nameOf),
      ...(isNeeded ? Object.keys(body) : []),
    ],
  };
}

/** A response as one object: its headers and its body. */
function responseOf(response: Json): Json {
  const headers = Object.keys(partOf(response, 'headers')).map((name) => [`header ${name}`, {}]);
  const properties = { ...Object.fromEntries(headers), ...bodyOf(response) } as Json;
  return { type: 'object', properties, required: Object.keys(properties) };
}

const sentBy = (webhook: Json) => responseOf(partOf(webhook, 'requestBody'));

/** By media type. */
function bodyOf(of: Json): Json {
  const bodies = Object.entries(partOf(of, 'content') as Record<string, Json>);
  return Object.fromEntries(bodies.map(([type, one]) => [type, one['schema']]));
}

function wordsOf(schema: Json): string[] | undefined {
  const words = 'const' in schema ? [schema['const']] : (schema['enum'] as unknown[] | undefined);
  return words?.map((word) => JSON.stringify(word));
}

const said = (type: unknown) => (typeof type === 'string' ? type : 'of any type');
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const partOf = (of: Json, name: string): Json => (isObject(of[name]) ? of[name] : {});
