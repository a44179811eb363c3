// Under which name an address is limited. Addresses are without number (a network of IPv6 has more
// than any table can hold), so a process names a bounded number of them a minute. The others share
// limits, each with the others of its bucket.
import { hash } from 'node:crypto';

const minuteMs = 60_000;
/** Hexadecimal digits that name the bucket of an address that has no name: 256 buckets. */
const bucketDigits = 2;

export class AddressSubjects {
  private named = new Set<string>();
  private endsMs = 0;

  constructor(private readonly maxNamed: number) {}

  subjectOf(address: string, nowMs: number): string {
    if (nowMs >= this.endsMs) {
      this.named = new Set();
      this.endsMs = nowMs + minuteMs;
    }
    if (this.named.size < this.maxNamed) this.named.add(address);
    if (this.named.has(address)) return address;
    return `other ${hash('sha256', address).slice(0, bucketDigits)}`;
  }
}
