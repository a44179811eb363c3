// Where the service reports by itself: alerts by e-mail with links, and heads of certificates.
import { z } from 'zod';
import { httpUrl, mailAddress, urlOf } from './setting-values.js';

export const reportSchemas = {
  SMTP_URL: urlOf('SMTP_URL', /^smtps?:$/, 'smtp://user:password@mail.example:587').optional(),
  ALERT_FROM: mailAddress('ALERT_FROM').optional(),
  CONSOLE_URL: httpUrl('CONSOLE_URL').optional(),
  ANCHOR_FILE: z.string().optional(),
  TIMESTAMP_URL: httpUrl('TIMESTAMP_URL').optional(),
};

const reportSettings = z.object(reportSchemas);

export type ReportSettings = ReturnType<typeof readReports>;

export function readReports(values: z.output<typeof reportSettings>) {
  return {
    alerts: {
      /** The mail server. Null: no e-mail is sent. */
      smtpUrl: values.SMTP_URL ?? null,
      /** The sender of e-mails. Null without a mail server. */
      from: values.ALERT_FROM ?? null,
      /** Where links of alerts lead. Null: to the service's own API. */
      consoleUrl: values.CONSOLE_URL ?? null,
    },
    /** Where heads of certificates are put outside the database. Null: nowhere. */
    anchors: { file: values.ANCHOR_FILE ?? null, timestampUrl: values.TIMESTAMP_URL ?? null },
  };
}
