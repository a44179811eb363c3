// The values that settings may have. Each message names the setting and a valid value.
import { z } from 'zod';

export const port = (name: string) =>
  z
    .string()
    .regex(/^\d{1,5}$/, `${name} must be a port number from 0 to 65535.`)
    .transform(Number)
    .refine((value) => value <= 65_535, `${name} must be a port number from 0 to 65535.`);

export const httpUrl = (name: string) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
      `${name} must be an http or https URL.`,
    )
    .transform((value) => value.replace(/\/+$/, ''));

export const urlOf = (name: string, protocols: RegExp, example: string) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.test(new URL(value).protocol),
      `${name} must be a URL such as ${example}.`,
    );

export const postgresUrl = (name: string) =>
  urlOf(name, /^postgres(ql)?:$/, 'postgresql://user:password@host:5432/database');

/** A mailbox without a display name, in ASCII. It can contain no second one, and no line break. */
export const mailboxText =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

export const mailAddress = (name: string) =>
  z
    .string()
    .refine(
      (value) => value.length <= 254 && mailboxText.test(value),
      `${name} must be an address such as alerts@example.com.`,
    );

export const secret = (name: string, minLength: number) =>
  z
    .string()
    .regex(/^[\x21-\x7e]+$/, `${name} must be printable characters without spaces.`)
    .min(minLength, `${name} must have at least ${minLength} characters.`);

export const yesOrNo = (name: string) =>
  z
    .enum(['true', 'false'], `${name} must be true or false.`)
    .transform((value) => value === 'true');

export const count = (name: string, minimum: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `${name} must be a whole number, at least ${minimum}.`)
    .transform(Number)
    .refine((value) => value >= minimum, `${name} must be a whole number, at least ${minimum}.`);

/** Headers that HTTP or the contract uses itself: a key must not be sent in one of them. */
const reservedHeaders =
  /^(host|connection|content-.*|expect|transfer-encoding|te|trailer|upgrade|keep-alive|accept|idempotencykey)$/i;

/** Whether a key may be sent in this header. */
export const isFreeHeader = (name: string): boolean => !reservedHeaders.test(name);

export const headerName = (name: string) =>
  z
    .string()
    .regex(/^[a-z0-9-]{1,60}$/i, `${name} must be the name of an HTTP header.`)
    .refine(isFreeHeader, `${name} must not be a header that HTTP or the contract uses itself.`)
    .transform((value) => value.toLowerCase());

/** As OpenTelemetry writes it: `name=value,name=value`, with percent-encoded values. */
export const headerList = (name: string) =>
  z
    .string()
    .regex(
      /^([\w-]+=(%[\da-f]{2}|[^\s,%])+(,(?=.)|$))+$/i,
      `${name} must be name=value,name=value.`,
    )
    .transform((value) =>
      Object.fromEntries(
        value.split(',').map((header) => {
          const [key = '', ...rest] = header.split('=');
          return [key, decodeURIComponent(rest.join('='))];
        }),
      ),
    );
