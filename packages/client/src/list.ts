/** One page of a list. `next` is the cursor of the next one. */
export interface Page {
  data: readonly unknown[];
  next: string | null;
}

/** A list, which is read page by page while it is iterated: `for await (const one of list)`. */
export class List<P extends Page> implements AsyncIterable<P['data'][number]> {
  constructor(private readonly read: (cursor?: string) => Promise<P>) {}

  /** The first page, or the one of a cursor. */
  page(cursor?: string): Promise<P> {
    return this.read(cursor);
  }

  async *pages(): AsyncGenerator<P, void, undefined> {
    let page = await this.read();
    yield page;
    while (page.next !== null) {
      page = await this.read(page.next);
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<P['data'][number], void, undefined> {
    for await (const page of this.pages()) yield* page.data as P['data'][number][];
  }
}
