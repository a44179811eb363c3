// An outage or an attack must not fill the log: what repeats is written once, and then as a count
// in each interval.

const intervalMs = 10_000;
/** What a process writes has fewer kinds. Beyond them each line is written. */
const maxKinds = 1_000;

interface Repeats {
  count: number;
  writeCount: (count: number) => void;
}

export class RepeatedLines {
  private readonly kinds = new Map<string, Repeats>();
  private timer: NodeJS.Timeout | null = null;

  /** Whether to write a line of the kind. If not, `writeCount` is called at the interval's end. */
  admit(kind: string, writeCount: Repeats['writeCount']): boolean {
    const repeats = this.kinds.get(kind);
    if (repeats) {
      repeats.count += 1;
      repeats.writeCount = writeCount;
      return false;
    }
    if (this.kinds.size < maxKinds) this.kinds.set(kind, { count: 0, writeCount });
    this.timer ??= setInterval(() => this.endInterval(), intervalMs).unref();
    return true;
  }

  private endInterval(): void {
    for (const [kind, { count, writeCount }] of this.kinds) {
      if (count === 0) this.kinds.delete(kind);
      else {
        this.kinds.set(kind, { count: 0, writeCount });
        writeCount(count);
      }
    }
    if (this.kinds.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }
}

/** Ids, times and ports: what differs between two failures of one kind. */
const number = /[0-9a-f-]*\d[0-9a-f-]*/gi;

/**
 * Two lines of one kind say the same of other rows, requests or moments: the same sentence with the
 * same error, or without one with the same words.
 */
export function failureKindOf(level: number, fields: object, message: string): string {
  const given = Object.entries(fields);
  const errors = given.flatMap(([, value]) => (value instanceof Error ? kindOfError(value) : []));
  const words = given.flatMap(([name, value]) =>
    typeof value === 'string' && !/id$/i.test(name) ? value : [],
  );
  return [level, message, ...(errors.length > 0 ? errors : words)].join('\n');
}

function kindOfError(error: Error, depth = 0): string {
  const { code } = error as { code?: unknown };
  const own = `${error.name} ${String(code)} ${error.message.slice(0, 300).replace(number, '#')}`;
  return error.cause instanceof Error && depth < 5
    ? `${own}\n${kindOfError(error.cause, depth + 1)}`
    : own;
}
