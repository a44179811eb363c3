// Look-ups that share statements, so that callers who are not authenticated yet cannot occupy the
// database: however many they are, their look-ups use one connection.

interface WaitingLookUp<Key, Found> {
  key: Key;
  resolve: (found: Found | null) => void;
  reject: (error: unknown) => void;
}

const maxBatch = 500;

export class BatchedLookUps<Key, Found> {
  private readonly waiting: WaitingLookUp<Key, Found>[] = [];
  private isRunning = false;

  /** `lookUp` finds several different keys at once. Its calls never overlap. */
  constructor(
    private readonly lookUp: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Found>>,
  ) {}

  /**
   * Null if there is none. Joins no look-up that has begun, so that what was changed before this
   * call is seen. Throws what `lookUp` throws.
   */
  find(key: Key): Promise<Found | null> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, maxBatch);
      try {
        const found = await this.lookUp([...new Set(batch.map(({ key }) => key))]);
        for (const { key, resolve } of batch) resolve(found.get(key) ?? null);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isRunning = false;
  }
}
