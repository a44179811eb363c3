// Limits how many requests are under way to one host, so that a host with many slow endpoints does
// not occupy the whole process.

export class HostLimits {
  private readonly underWay = new Map<string, number>();

  constructor(private readonly limit: number) {}

  /** Takes up to `wanted` places of the host. Returns how many; 0 while all are taken. */
  take(host: string, wanted: number): number {
    const taken = this.underWay.get(host) ?? 0;
    const places = Math.min(wanted, this.limit - taken);
    if (places > 0) this.underWay.set(host, taken + places);
    return places;
  }

  free(host: string, places: number): void {
    const taken = (this.underWay.get(host) ?? 0) - places;
    if (taken > 0) this.underWay.set(host, taken);
    else this.underWay.delete(host);
  }
}
