// In which order passwords are compared. Each comparison takes a core for a while, so that a flood
// of them would make everybody wait. People at a place from which they have signed in go first, and
// strangers take turns by address, in a queue of a bounded length.

/** Whose password it is: waiting is fair between the sources of a lane. */
export interface PasswordSource {
  source: string;
  /** People at a known place, with an open session, or with a link. */
  isKnown: boolean;
}

export interface PasswordLimits {
  concurrent: number;
  /** In each of the two lanes. */
  waiting: number;
  waitingPerSource: number;
}

/** Called with true when the work may begin, with false when it is refused. */
type Waiter = (mayBegin: boolean) => void;

/** By source: the one whose turn is next comes first. */
type Lane = Map<string, Waiter[]>;

export class PasswordQueue {
  private working = 0;
  private readonly known: Lane = new Map();
  private readonly strangers: Lane = new Map();

  constructor(private readonly limits: PasswordLimits) {}

  /** Whether the source would be given a place now. */
  hasPlace({ source, isKnown }: PasswordSource): boolean {
    if (this.working < this.limits.concurrent) return true;
    const lane = this.laneOf(isKnown);
    const own = lane.get(source)?.length ?? 0;
    if (own >= this.limits.waitingPerSource) return false;
    return countOf(lane) < this.limits.waiting || longestOf(lane).length > own + 1;
  }

  /** Calls `begin`, now or later. Whoever begins calls `end`. */
  enter({ source, isKnown }: PasswordSource, begin: Waiter): void {
    if (!this.hasPlace({ source, isKnown })) return begin(false);
    if (this.working < this.limits.concurrent) {
      this.working += 1;
      return begin(true);
    }
    const lane = this.laneOf(isKnown);
    // The source with the most gives way, so that one with many does not keep out one with few.
    if (countOf(lane) >= this.limits.waiting) longestOf(lane).pop()?.(false);
    const waiting = lane.get(source) ?? [];
    waiting.push(begin);
    lane.set(source, waiting);
  }

  end(): void {
    const next = takeNext(this.known) ?? takeNext(this.strangers);
    if (next) next(true);
    else this.working -= 1;
  }

  private laneOf(isKnown: boolean): Lane {
    return isKnown ? this.known : this.strangers;
  }
}

function takeNext(lane: Lane): Waiter | undefined {
  const [first] = lane;
  if (!first) return undefined;
  const [source, waiting] = first;
  const next = waiting.shift();
  lane.delete(source);
  // Its next turn comes after those of all others.
  if (waiting.length > 0) lane.set(source, waiting);
  return next;
}

function countOf(lane: Lane): number {
  return [...lane.values()].reduce((sum, waiting) => sum + waiting.length, 0);
}

function longestOf(lane: Lane): Waiter[] {
  return [...lane.values()].reduce((most, each) => (each.length > most.length ? each : most), []);
}
