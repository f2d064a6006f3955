import { existsSync, statSync } from "node:fs"
import { dirname, join, posix, relative, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the checkout. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url))

const REPOSITORY = "https://github.com/runplane/runplane"

/** The documents of the site, from the root of the checkout: the README is its first page. */
export const PAGES = ["README.md", "docs/**/*.md"]

const isPage = (file: string) => file === "README.md" || (file.startsWith("docs/") && file.endsWith(".md"))

/** The name of a page in the collection, and its path in the site: `docs/guides/README.md` is `guides`. */
export const pageId = (file: string): string => {
  if (file === "README.md") return "index"
  if (file === "docs/README.md") return "documents"
  return file.replace(/^docs\//, "").replace(/(\/README)?\.md$/, "")
}

/** The path of a file from the root of the checkout, with slashes; a folder has none at its end. */
export const fileAt = (from: string, target: string): string =>
  relative(ROOT, resolve(ROOT, dirname(from), decodeURI(target)))
    .split(sep)
    .join("/")

/** The address of a link of a page: a page of the site, or the file in the repository. */
export const addressOf = (from: string, link: string, base: string): string => {
  if (/^([a-z][a-z0-9+.-]*:|#)/i.test(link)) return link
  const [target = "", anchor] = link.split("#")
  const file = fileAt(from, target)
  const hash = anchor === undefined ? "" : `#${anchor}`
  const path = join(ROOT, file)
  if (!existsSync(path)) throw new Error(`${from} links to ${link}, and ${file} does not exist`)
  if (isPage(file)) return posix.join("/", base, pageId(file).replace(/^index$/, ""), "/") + hash
  return `${REPOSITORY}/${statSync(path).isDirectory() ? "tree" : "blob"}/main/${file}${hash}`
}
