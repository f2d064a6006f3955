// Builds the site of the documents into packages/site/dist, and checks every link and anchor in it. SITE_BASE is the
// path below which it is served; its files are in the folder of that path, so that dist is the root of the server.
import { globSync, rmSync } from "node:fs"
import { dirname, join, posix, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "astro"
import { LinkChecker } from "linkinator"

process.env.ASTRO_TELEMETRY_DISABLED = "1"
const folder = dirname(dirname(fileURLToPath(import.meta.url)))
const root = dirname(dirname(folder))
const site = join(folder, "dist")

const { SITE_BASE = "" } = process.env
if (!/^[\w./~-]*$/.test(SITE_BASE)) {
  console.error(`SITE_BASE has to be a path such as /docs, and is "${SITE_BASE}"`)
  process.exit(1)
}
const base = posix.join("/", SITE_BASE, "/")

rmSync(site, { recursive: true, force: true })
// Its warnings are about parts that this site does not have: translations, a page of its own for 404, a sitemap.
// Rendered documents of an earlier build are not reused, because they have its path and its options in them.
await build({ force: true, root: folder, base, outDir: join(site, base), logLevel: "error" })

const local = /^http:\/\/(localhost|127\.0\.0\.1)[:/]/
const { links } = await new LinkChecker().check({
  path: base,
  serverRoot: site,
  recurse: true,
  checkFragments: true,
  // A connection that the local server closes while it is used again says nothing about a link.
  retryErrors: true,
  // Other hosts are no business of a build.
  linksToSkip: async (link) => !local.test(link)
})
const faults = links
  .filter(({ state }) => state === "BROKEN")
  .map(({ url, parent, status, failureDetails }) => {
    const why = failureDetails?.[0]?.message ?? `status ${status}`
    return `${parent} links to ${url}: ${why}`
  })
const addressOf = (path) => posix.join("/", path.replaceAll("\\", "/"), "/")
const reached = new Set(links.map(({ url }) => addressOf(url.replace(/[?#].*/, ""))))
const pages = globSync("**/index.html", { cwd: site }).map((file) => addressOf(dirname(file)))
faults.push(...pages.filter((page) => !reached.has(page)).map((page) => `no page links to ${page}`))
if (faults.length > 0) {
  console.error(faults.join("\n"))
  process.exit(1)
}
console.log(`${relative(root, site)} has ${pages.length} pages, to be served at ${base}; all links inside are right`)
