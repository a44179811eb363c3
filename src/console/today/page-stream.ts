// What is sent to an open page, in the format of server-sent events.
import type { Readable } from 'node:stream';

/** The time after which a browser opens a stream again that was cut off. */
const reconnectMs = 3_000;
/** A stream that nobody reads is cut off when so much waits. */
const maxWaitingBytes = 1024 * 1024;

/** One open page. Pages with the same `key` show the same. */
export class PageStream {
  private shown: string | null = null;
  private isEnded = false;

  constructor(
    readonly key: string,
    /** An empty one, to which only this class pushes. */
    readonly body: Readable,
  ) {
    // The first bytes send the headers, by which the browser knows that the stream is open.
    this.write(`retry: ${reconnectMs}\n\n`);
  }

  /** Whether nothing was sent yet. */
  get isNew(): boolean {
    return this.shown === null;
  }

  /** Sends the page's part, unless it was sent last. Returns whether it was sent. */
  sendPart(html: string): boolean {
    if (this.shown === html) return false;
    this.shown = html;
    this.write(writeEvent('today', html));
    return true;
  }

  /** A comment, by which browsers and proxies see that the stream is alive. */
  sendHeartbeat(): void {
    this.write(':\n\n');
  }

  /** Ends the stream for good: from then on the page refreshes itself. */
  end(): void {
    this.write(writeEvent('ended', ''));
    this.cut();
  }

  /** Ends the stream. The browser opens it again, maybe at another process. */
  cut(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    if (!this.body.destroyed) this.body.push(null);
  }

  private write(text: string): void {
    if (this.isEnded || this.body.destroyed) return;
    this.body.push(text);
    if (this.body.readableLength > maxWaitingBytes) this.body.destroy();
  }
}

/** An event; each line of its text has a field of its own. */
export function writeEvent(name: string, text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `event: ${name}\n${lines.join('')}\n`;
}
