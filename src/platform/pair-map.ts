/** A map by two texts. A text made of both would be a new one for each look-up. */
export class PairMap<Value> {
  private readonly byFirst = new Map<string, Map<string, Value>>();

  get(first: string, second: string): Value | undefined {
    return this.byFirst.get(first)?.get(second);
  }

  set(first: string, second: string, value: Value): void {
    let values = this.byFirst.get(first);
    if (!values) this.byFirst.set(first, (values = new Map<string, Value>()));
    values.set(second, value);
  }
}

/** Adds a value to those of its keys. */
export function addToPair<Value>(
  groups: PairMap<Value[]>,
  first: string,
  second: string,
  value: Value,
): void {
  const group = groups.get(first, second);
  if (group) group.push(value);
  else groups.set(first, second, [value]);
}
