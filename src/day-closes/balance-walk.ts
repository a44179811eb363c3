// Checks the balance chain over all synced lines, batch by batch, as the lines are read.
import {
  checkBalanceChain,
  type ChainLink,
  type Gap,
  type Jump,
} from '../statement/balance-chain.js';

export class BalanceWalk {
  private links: ChainLink[] = [];
  private start: bigint | null = null;
  /** The jumps of the balance at accepted gaps, in cents by nsu. */
  readonly jumps = new Map<bigint, bigint>();
  /** The balance that the chain has reached. */
  balanceCents: bigint | null = null;
  /** The first gap that nobody accepted. The walk ends there. */
  gap: Gap | null = null;

  constructor(private readonly acceptedNsus: ReadonlySet<bigint>) {}

  /** Adds the next lines in nsu order; `isCut` while more lines follow. Returns the gap, if any. */
  addLines(links: readonly ChainLink[], isCut: boolean): Gap | null {
    if (this.gap) return null;
    this.links = [...this.links, ...links];
    const { start } = this;
    const isAccepted = ({ nsu }: Jump) => this.acceptedNsus.has(nsu);
    const { gap, jumps, balance, resume } = checkBalanceChain(this.links, {
      start,
      isCut,
      isAccepted,
    });
    for (const { nsu, cents } of jumps) this.jumps.set(nsu, cents);
    this.balanceCents = balance;
    this.links = this.links.slice(resume.index);
    this.start = resume.balance;
    this.gap = gap;
    return gap;
  }
}
