# A small image that runs as nobody and writes nowhere: `docker run --read-only` works as it stands, with the demo
# database built into the image. Your own database: -e DATABASE_URL=… -e MAPPINGS=/packs/mine -v ./mine:/packs/mine:ro.
#
# While ACCESS is open the server listens on loopback only, so a container has to share the host's:
#   docker build -t lintel . && docker run --rm --read-only --network host lintel

# The Node that package.json names. A digest pins the image itself: docs/docker.md says how to get one.
ARG NODE_IMAGE=node:24.21.0-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image has the right Node itself. Without its install script the npm package `node` brings none along.
RUN npm ci --omit=dev --ignore-scripts
COPY src ./src
COPY mappings ./mappings
COPY fixtures ./fixtures
COPY bin ./bin
RUN node bin/lintel.mjs check && rm -r node_modules/.cache

FROM ${NODE_IMAGE}
ENV NODE_ENV=production DATA_DIR=/app/.lintel
WORKDIR /app
COPY --from=build /app ./
RUN mkdir -p node_modules/.cache && chown -R node node_modules/.cache .lintel
USER node
# What is compiled is kept for this user: starts read it.
RUN node bin/lintel.mjs check
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=15s --start-period=20s \
  CMD ["node", "bin/lintel.mjs", "health"]
# A young generation that is never small: see docs/decisions/0151.
CMD ["node", "--min-semi-space-size=16", "bin/lintel.mjs", "serve"]
