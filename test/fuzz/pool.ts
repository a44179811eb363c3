// What the fuzzer knows of the application from its answers: paths of what exists, and values of
// the fields by which requests name it.
import type { Dice } from '../chaos/dice.js';
import type { Operations } from './operations.js';

const kept = 60;

type Json = Record<string, unknown>;

const isScalar = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';

/** The template of a path, whatever its parameters are called. */
const unnamed = (template: string) => template.replace(/\{\w+\}/g, '{}');

export class Pool {
  private readonly paths = new Map<string, string[]>();
  private readonly values = new Map<string, unknown[]>();
  /** By the template of a list: what the parameter is called that names one of it. */
  private readonly namesInPath = new Map<string, string>();
  /** What requests call what answers have. */
  private readonly namesInRequests = new Set<string>();

  /** `aliases`: by the template of a path, the field by whose values it is also known. */
  constructor(
    { operations, schemas }: Operations,
    private readonly aliases: Record<string, string> = {},
  ) {
    for (const name of Object.values(aliases)) this.namesInRequests.add(name);
    for (const { path, parameters } of operations) {
      for (const { name } of parameters) this.addName(name);
      for (let end = path.indexOf('}'); end > 0; end = path.indexOf('}', end + 1)) {
        const start = path.lastIndexOf('{', end);
        this.namesInPath.set(unnamed(path.slice(0, start - 1)), path.slice(start + 1, end));
      }
    }
    for (const { properties = {} } of Object.values(schemas))
      for (const name of Object.keys(properties)) this.addName(name);
  }

  private addName(name: string): void {
    if (/Id$|nsu$|Code$|Line$|^hash$/i.test(name)) this.namesInRequests.add(name);
  }

  addValue(name: string, ...values: unknown[]): void {
    for (const value of values) push(this.values, name, value);
  }

  addPath(template: string, path: string): void {
    push(this.paths, unnamed(template), path);
  }

  /** A known value of a field of this name, often one of the last. */
  value(dice: Dice, name: string): unknown {
    return pick(dice, this.values.get(name));
  }

  text(dice: Dice, name: string): string | undefined {
    const value = this.value(dice, name);
    return isScalar(value) ? String(value) : undefined;
  }

  /** A path to something that exists, where something is known, else null. */
  path(dice: Dice, template: string, isAllowed: (path: string) => boolean): string | null {
    const end = template.lastIndexOf('}') + 1;
    if (end === 0) return template;
    const to = unnamed(template.slice(0, end));
    const alias = this.aliases[to];
    const value = alias && this.text(dice, alias);
    const path = value
      ? to.replace('{}', encodeURIComponent(value))
      : pick(dice, this.paths.get(to)?.filter(isAllowed));
    return path === undefined ? null : path + template.slice(end);
  }

  /** Learns from what a request of the template was answered. */
  learn(template: string, path: string, body: unknown): void {
    this.remember(body);
    const { data, items, next } = (body ?? {}) as Json;
    if (typeof next === 'string') this.addValue(`cursor ${template}`, next);
    const list = [data, items, body].find(Array.isArray) as unknown[] | undefined;
    // Lists have the newest first.
    for (const one of list?.toReversed() ?? [body])
      this.learnOne(template, path, (one ?? {}) as Json);
  }

  /** Forgets the path of what does not exist any more. */
  forget(template: string, path: string): void {
    const known = this.paths.get(unnamed(template)) ?? [];
    const index = known.indexOf(path);
    if (index >= 0) known.splice(index, 1);
  }

  private learnOne(template: string, path: string, one: Json): void {
    const name = this.namesInPath.get(unnamed(template));
    const own = [name ?? 'id', 'id'].map((field) => one[field]).find(isScalar);
    if (own === undefined) return;
    const id = String(own);
    this.addPath(`${template}/{}`, `${path}/${encodeURIComponent(id)}`);
    // The id of one of /v1/alert-rules is an alertRuleId or ruleId elsewhere.
    const words = template.split('/').at(-1)!.replace(/s$/, '').split('-');
    for (let from = 0; from < words.length; from += 1)
      this.remember({
        [`${words.slice(from).join('-')}Id`.replace(/-./g, (two) => two[1]!.toUpperCase())]: own,
      });
  }

  private remember(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, of] of Object.entries(value))
      if (!isScalar(of)) this.remember(of);
      else if (this.namesInRequests.has(name)) this.addValue(name, of);
  }
}

function pick<Item>(dice: Dice, items: Item[] = []): Item | undefined {
  if (items.length === 0) return undefined;
  return dice.pick(dice.chance(0.5) ? items.slice(-8) : items);
}

function push<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name) ?? [];
  if (list.includes(item)) return;
  list.push(item);
  // The first stay: what was set up is always known.
  if (list.length > kept) list.splice(kept / 2, 1);
  lists.set(name, list);
}
