/** Reads numbered pages one after another. At most one of them is requested ahead. */
export class PageReader<Page> {
  private ahead: { page: number; reading: Promise<Page> } | null = null;

  constructor(private readonly request: (page: number) => Promise<Page>) {}

  /** The page, which is not requested again if it was requested ahead. */
  read(page: number): Promise<Page> {
    const { ahead } = this;
    this.ahead = null;
    return ahead?.page === page ? ahead.reading : this.request(page);
  }

  /** Requests a page while the page before it is stored. Its failure is thrown by `read`. */
  requestAhead(page: number): void {
    const reading = this.request(page);
    reading.catch(() => undefined);
    this.ahead = { page, reading };
  }

  /** Drops the page that was requested ahead: it may show other lines now. */
  forget(): void {
    this.ahead = null;
  }

  /** Returns a page that was read already to the next `read`. */
  putBack(page: number, value: Page): void {
    this.ahead = { page, reading: Promise.resolve(value) };
  }
}
