// Sends e-mails by the mail server of the settings. Neither the log nor an error has a recipient or
// what the mail server wrote, which may name one.
import { Injectable } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { Settings } from '../../platform/settings/config.js';
import { Log } from '../../platform/log.js';

/** How long one step of the dialogue with the mail server may take. */
const stepMs = 10_000;

export interface Mail {
  /** Names the message in `Message-ID`: a repeat has the same. */
  id: string;
  recipients: readonly string[];
  subject: string;
  text: string;
}

export interface SendResult {
  /** Of the receiver: an HTTP status, or a code of SMTP. Null without a response. */
  status: number | null;
  /** Null once it is sent. */
  error: string | null;
  retryAfterSeconds: number | null;
}

@Injectable()
export class MailSender {
  constructor(
    private readonly settings: Settings,
    private readonly log: Log,
  ) {}

  get isConfigured(): boolean {
    return this.settings.alerts.smtpUrl !== null;
  }

  /** Never throws for a failure of the mail server or of the network. */
  async send({ id, recipients, subject, text }: Mail): Promise<SendResult> {
    const { smtpUrl: url, from } = this.settings.alerts;
    if (url === null || from === null) return failed(null, 'smtp_not_configured');
    const transport = createTransport({
      url,
      connectionTimeout: stepMs,
      greetingTimeout: stepMs,
      dnsTimeout: stepMs,
      socketTimeout: stepMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const sent = await transport.sendMail({
        from: { name: 'Concilia', address: from },
        // Objects, so that no text of an address is read as several addresses.
        to: recipients.map((address) => ({ name: '', address })),
        messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        ...{ subject, text },
      });
      // The others have it: a repeat would send it to them twice.
      const refused = sent.rejected.length;
      if (refused > 0) this.log.warn({ refused }, 'mail server refused recipients of an alert');
      return { status: 250, error: null, retryAfterSeconds: null };
    } catch (error) {
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
      const status = typeof responseCode === 'number' ? responseCode : null;
      const reason = typeof code === 'string' ? code.toLowerCase() : 'no_response';
      this.log.info({ status, code: reason, messageId: id }, 'alert e-mail could not be sent');
      return failed(status, status === null ? reason : `status_${status}`);
    } finally {
      transport.close();
    }
  }
}

function failed(status: number | null, error: string): SendResult {
  return { status, error, retryAfterSeconds: null };
}
