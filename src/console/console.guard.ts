// Lets a request to the console pass: with a session where one is needed, with a role that allows
// the action, and a form only from a page of this service. Every page and every form passes here.
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../platform/settings/config.js';
import { defaultMaxBodyBytes } from '../bank-contract/route.js';
import { isAllowed, stepUpActions, type Action } from '../access/people/roles.js';
import { OperatorSessions, type Session } from '../access/people/sessions.service.js';
import { addressOf } from '../platform/http/client-address.js';
import { AppError, invariant } from '../platform/errors.js';
import { isMultipartForm, readMultipartForm } from '../platform/files/multipart-form.js';
import { readBytes } from '../platform/http/request-body.js';
import { isSameSecret } from '../platform/secret-box.js';
import type { Needs } from './page.js';
import {
  askedHeader,
  cookieNames,
  heldField,
  isOwnOrigin,
  languageCookie,
  pageField,
  readCookies,
  readNext,
  writeCookie,
} from './requests.js';
import { accountOf, sessionOf, type Visit } from './visit.js';
import { formatTime } from './formats.js';
import { translateInto } from './texts.js';
import { chooseLanguage } from './texts/languages.js';

export const needsKey = 'console-needs';
/** Several large files may wait for each other. */
const fileTimeoutMs = 600_000;
const forwardingHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'];
const visits = new WeakMap<FastifyRequest, Visit>();

/** The person must go to another page first. */
export class OtherPageFirst extends Error {
  override readonly name = 'OtherPageFirst';
  constructor(readonly to: string) {
    super(`the person must open ${to} first`);
  }
}

/** The person must give a code first. What they sent waits in `held`, for the same address. */
export class CodeFirst extends Error {
  override readonly name = 'CodeFirst';
  constructor(
    readonly held: string,
    readonly isWrong: boolean,
  ) {
    super('the person must give a code first');
  }
}

@Injectable()
export class ConsoleGuard implements CanActivate {
  constructor(
    private readonly sessions: OperatorSessions,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const needs = Reflect.getMetadata(needsKey, context.getHandler()) as Needs | undefined;
    invariant(needs, 'ConsoleGuard guards a method that is no page');
    // Where the session cannot be read, the error page is shown without it.
    const visit = visitWithoutSession(request);
    const { sso } = this.settings;
    if (sso) visit.ssoSite = new URL(sso.issuer).origin;
    visits.set(request, visit);
    const params = (request.params ?? {}) as Record<string, string>;
    const token = visit.cookies.get(cookieNames(this.settings.publicUrl).session);
    const session = token ? await this.sessions.find(token, readSlug(params.account)) : null;
    visit.session = session;
    visit.confirmsAtProvider = session?.isSso === true && sso?.stepUp === 'provider';
    visit.csrfToken = session ? this.sessions.csrfTokenOf(session) : '';
    if (request.method === 'POST') {
      this.assertOwnOrigin(request);
      await readForm(context, visit);
      const code = this.takeHeld(visit);
      if (code === undefined) assertOfSession(visit);
      readCameFrom(visit);
      this.assertAllowed(needs, visit, request.method);
      if (stepUpActions.some((one) => one === needs)) {
        const cookie = await this.stepUp(visit, code);
        const reply = context.switchToHttp().getResponse<FastifyReply>();
        if (cookie !== null) void reply.header('set-cookie', cookie);
      }
    } else this.assertAllowed(needs, visit, request.method);
    const isUse = !visit.isRefresh || request.headers[askedHeader] !== undefined;
    if (session?.isComplete && isUse) await this.sessions.touch(session);
    return true;
  }

  /**
   * The form that waited for a code becomes the form of the visit. Only its session can send it, so
   * it needs no token of the session, which may have changed. Returns the code, `undefined` for
   * another form.
   */
  private takeHeld(visit: Visit): string | undefined {
    const { session, form } = visit;
    const held = form.get(heldField);
    const fields = session && held !== null ? this.sessions.findHeldForm(session, held) : null;
    if (fields === null) return undefined;
    visit.form = new URLSearchParams(fields);
    return form.get('code') ?? '';
  }

  /** Takes the code, and returns the cookie of the session, or asks for one and holds the form. */
  private async stepUp(visit: Visit, code = ''): Promise<string | null> {
    const session = sessionOf(visit);
    if (session.isSteppedUp) return null;
    const isGiven = code !== '' && !visit.confirmsAtProvider;
    const given = isGiven ? await this.sessions.giveCode(session, code, visit.address) : null;
    if (given?.outcome !== 'accepted') {
      visit.form.delete('csrf');
      visit.form.set(pageField, visit.cameFrom);
      const held = this.sessions.holdForm(session, visit.form.toString());
      visit.form = new URLSearchParams();
      throw new CodeFirst(held, isGiven);
    }
    visit.session = await this.sessions.find(given.token, readSlug(visit.params.account));
    visit.csrfToken = this.sessions.csrfTokenOf(sessionOf(visit));
    const { session: name, isSecure } = cookieNames(this.settings.publicUrl);
    return writeCookie(name, given.token, { isSecure, maxAgeSeconds: null });
  }

  /** Throws unless a page of this service sent the form. */
  private assertOwnOrigin({ headers: { origin, host } }: FastifyRequest): void {
    if (!isOwnOrigin(origin, host, this.settings.publicUrl)) throw foreignForm();
  }

  private assertAllowed(needs: Needs, visit: Visit, method: string): void {
    if (needs === 'nobody') return;
    const { session } = visit;
    if (!session) throw new OtherPageFirst(signInPage(visit, method));
    if (needs === 'password') return;
    if (!session.isComplete) throw new OtherPageFirst(secondStep(session));
    if (needs !== 'session') assertRole(needs, session);
  }
}

/** Of a form with a file, the fields before the file are read, and nothing of the file. */
async function readForm(context: ExecutionContext, visit: Visit): Promise<void> {
  const http = context.switchToHttp();
  const { body, headers, raw } = http.getRequest<FastifyRequest>();
  const type = headers['content-type'] ?? '';
  if (body instanceof Readable && isMultipartForm(type)) {
    const form = await readMultipartForm(type, body);
    http.getResponse<FastifyReply>().raw.once('finish', form.discard);
    // No byte crosses the connection while a file waits and is worked on.
    raw.socket.setTimeout(fileTimeoutMs);
    [visit.form, visit.file] = [form.fields, form.file];
    return;
  }
  const isForm = type.startsWith('application/x-www-form-urlencoded');
  if (!isForm && body instanceof Readable) body.resume();
  if (!isForm) throw new AppError('unsupported_media_type', { public: 'The body must be a form.' });
  const bytes = body instanceof Readable ? await receive(body) : body;
  visit.form = new URLSearchParams(
    bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : '',
  );
}

/** A form that was refused is shown at an address that cannot be opened: it carries its page. */
function readCameFrom(visit: Visit): void {
  const page = visit.form.get(pageField);
  if (page !== null) visit.cameFrom = readNext(page);
  visit.form.delete(pageField);
}

/** A form without a file, sent to an action that takes one. */
function receive(body: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    readBytes(body, defaultMaxBodyBytes, (error, bytes) =>
      error ? reject(error) : resolve(bytes),
    );
  });
}

/** Throws unless the form was made for this session. */
function assertOfSession({ session, form, csrfToken }: Visit): void {
  if (session !== null && !isSameSecret(form.get('csrf') ?? '', csrfToken)) throw foreignForm();
}

function foreignForm(): AppError {
  return new AppError('forbidden', { reason: 'foreign_form' });
}

function assertRole(action: Action, session: Session): void {
  // An account in which the person has no role does not exist for them.
  if (!session.account) throw new AppError('not_found');
  if (!isAllowed(session.account.role, action)) throw new AppError('forbidden');
}

/** With its query: what a person has chosen stands in it. */
function pageOf(address = ''): string {
  if (!URL.canParse(address)) return readNext(null);
  const { pathname, search } = new URL(address);
  const page = readNext(`${pathname}${search}`);
  return page === readNext(null) ? readNext(pathname) : page;
}

function signInPage({ path }: Visit, method: string): string {
  const isWorthReturning = method === 'GET' && path !== '/console';
  return `/console/sign-in${isWorthReturning ? `?next=${encodeURIComponent(path)}` : ''}`;
}

/** Where a person goes whose password was accepted. */
export function secondStep({ hasAuthenticator }: Pick<Session, 'hasAuthenticator'>): string {
  return hasAuthenticator ? '/console/code' : '/console/authenticator';
}

function visitWithoutSession(request: FastifyRequest): Visit {
  const url = new URL(request.url, 'http://console');
  const cookies = readCookies(request.headers.cookie);
  const language = chooseLanguage(
    cookies.get(languageCookie),
    request.headers['accept-language'] ?? '',
  );
  const visit: Visit = {
    path: url.pathname,
    params: (request.params ?? {}) as Record<string, string>,
    query: url.searchParams,
    cookies,
    cameFrom: pageOf(request.headers.referer),
    isForm: request.method === 'POST',
    form: new URLSearchParams(),
    problem: null,
    file: null,
    language,
    t: translateInto(language),
    time: (at) => formatTime(at ?? null, language),
    nonce: randomBytes(16).toString('base64'),
    ssoSite: '',
    confirmsAtProvider: false,
    session: null,
    get accountId() {
      return accountOf(visit).id;
    },
    to: (page) => `/console/accounts/${accountOf(visit).slug}/${page}`,
    may: (action) => isAllowed(accountOf(visit).role, action),
    csrfToken: '',
    address: addressOf(request),
    isForwarded: forwardingHeaders.some((name) => request.headers[name] !== undefined),
    userAgent: request.headers['user-agent'] ?? '',
    isRefresh:
      request.headers['hx-request'] === 'true' || request.headers.accept === 'text/event-stream',
  };
  return visit;
}

/** What is no slug names no account. PostgreSQL cannot even compare some texts. */
function readSlug(text = ''): string {
  return /^[a-z0-9-]{1,60}$/.test(text) ? text : '';
}

/** Of a request that ConsoleGuard has seen; others are without a session. */
export function visitOf(request: FastifyRequest): Visit {
  return visits.get(request) ?? visitWithoutSession(request);
}
