// The chain of balances over a whole mirror, taken piece by piece as it is read.
import { checkBalanceChain, type Gap, type Jump, type ChainLink } from '../statement/balance-chain.js';

export class BalanceWalk {
  private links: ChainLink[] = [];
  private start: bigint | null = null;
  /** What the balance jumps by at accepted holes. */
  readonly jumps = new Map<bigint, bigint>();
  /** What the chain has come to. */
  balanceCents: bigint | null = null;
  /** The first that nobody has accepted: there the walk ends. */
  gap: Gap | null = null;

  constructor(private readonly accepted: ReadonlySet<bigint>) {}

  /** The next lines by nsu; `isCut` while there are more. */
  take(links: readonly ChainLink[], isCut: boolean): Gap | null {
    if (this.gap) return null;
    this.links = [...this.links, ...links];
    const { start } = this;
    const isAccepted = ({ nsu }: Jump) => this.accepted.has(nsu);
    const { gap, jumps, balance, resume } = checkBalanceChain(this.links, { start, isCut, isAccepted });
    for (const { nsu, cents } of jumps) this.jumps.set(nsu, cents);
    this.balanceCents = balance;
    this.links = this.links.slice(resume.index);
    this.start = resume.balance;
    this.gap = gap;
    return gap;
  }
}
