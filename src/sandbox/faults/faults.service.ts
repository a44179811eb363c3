// The faults that a test has asked for. They live as long as the process: a bank that is started again works.
import { Injectable } from '@nestjs/common';
import { Random } from '../random.service.js';
import { strikes, type BankCall } from './bank-call.js';
import {
  delayOf,
  fires,
  type Fault,
  type FaultEndpoint,
  type FaultKind,
  type FaultRequest,
} from './fault.js';

/** A fault that fires now. */
export interface FiredFault<Kind extends FaultKind = FaultKind> {
  kind: Kind;
  delayMs: number;
}

@Injectable()
export class Faults {
  private readonly faults = new Map<string, Fault>();

  constructor(private readonly random: Random) {}

  add(request: FaultRequest): Fault {
    const fault = { ...request, id: this.random.uuid(), chances: 0, fired: 0 };
    this.faults.set(fault.id, fault);
    return fault;
  }

  list(): Fault[] {
    return [...this.faults.values()];
  }

  /** False when there is no such fault. */
  remove(id: string): boolean {
    return this.faults.delete(id);
  }

  /** Tells how many there were. */
  clear(): number {
    const count = this.faults.size;
    this.faults.clear();
    return count;
  }

  /**
   * The first fault of these kinds that fires at one of these endpoints, in the order in which they were asked for;
   * null when none does. Each one that is asked counts a chance. What is at no endpoint is meant by `*` alone.
   */
  take<Kind extends FaultKind>(
    endpoints: readonly FaultEndpoint[],
    ...kinds: readonly Kind[]
  ): FiredFault<Kind> | null {
    return this.takeFirst(
      ({ endpoint }) => endpoint === '*' || endpoints.includes(endpoint),
      kinds,
    );
  }

  /** The first fault of these kinds that fires on a call, likewise. */
  takeOnCall<Kind extends FaultKind>(
    call: BankCall,
    ...kinds: readonly Kind[]
  ): FiredFault<Kind> | null {
    return this.takeFirst((fault) => strikes(fault, call), kinds);
  }

  private takeFirst<Kind extends FaultKind>(
    isMeant: (fault: Fault) => boolean,
    kinds: readonly Kind[],
  ): FiredFault<Kind> | null {
    for (const fault of this.faults.values()) {
      const { kind } = fault;
      if (!(kinds as readonly FaultKind[]).includes(kind) || !isMeant(fault)) continue;
      const isFiring = fires(fault);
      fault.chances += 1;
      if (!isFiring) continue;
      fault.fired += 1;
      return { kind: kind as Kind, delayMs: delayOf(fault) };
    }
    return null;
  }
}
