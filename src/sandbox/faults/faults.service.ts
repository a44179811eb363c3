// The faults that a test has set. They are held in memory: a restarted bank has none.
import { Injectable } from '@nestjs/common';
import type { PixFailureCode } from './pix-failures.js';
import { Random } from '../random.service.js';
import { appliesToCall, type BankCall } from './bank-call.js';
import {
  faultDelayMs,
  doesFire,
  type Fault,
  type FaultEndpoint,
  type FaultKind,
  type FaultRequest,
} from './fault.js';

/** A fault that fires on this request. */
export interface FiredFault<Kind extends FaultKind = FaultKind> {
  kind: Kind;
  delayMs: number;
  code: PixFailureCode | null;
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

  /** Removes all faults and returns how many there were. */
  clear(): number {
    const count = this.faults.size;
    this.faults.clear();
    return count;
  }

  /**
   * Returns the first fault, in the order of creation, that has one of these kinds and endpoints
   * and fires; null when none does. Each fault that is tried counts a chance. Without an endpoint
   * only faults on `*` apply.
   */
  fire<Kind extends FaultKind>(
    endpoints: readonly FaultEndpoint[],
    ...kinds: readonly Kind[]
  ): FiredFault<Kind> | null {
    return this.fireFirst(
      ({ endpoint }) => endpoint === '*' || endpoints.includes(endpoint),
      kinds,
    );
  }

  /** Like `fire`, for the faults that apply to a request. */
  fireOnCall<Kind extends FaultKind>(
    call: BankCall,
    ...kinds: readonly Kind[]
  ): FiredFault<Kind> | null {
    return this.fireFirst((fault) => appliesToCall(fault, call), kinds);
  }

  private fireFirst<Kind extends FaultKind>(
    isApplicable: (fault: Fault) => boolean,
    kinds: readonly Kind[],
  ): FiredFault<Kind> | null {
    for (const fault of this.faults.values()) {
      const { kind } = fault;
      if (!(kinds as readonly FaultKind[]).includes(kind) || !isApplicable(fault)) continue;
      const isFiring = doesFire(fault);
      fault.chances += 1;
      if (!isFiring) continue;
      fault.fired += 1;
      return { kind: kind as Kind, delayMs: faultDelayMs(fault), code: fault.code ?? null };
    }
    return null;
  }
}
