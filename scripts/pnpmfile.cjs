// What pnpm gets wrong of some packages' manifests, put right before it resolves them. The lockfile keeps the outcome.
module.exports = {
  hooks: {
    readPackage: (manifest) => {
      // The packaged Node of each platform names it as a text, which pnpm leaves out of the lockfile: it would install
      // Node for Windows everywhere.
      for (const field of ["os", "cpu"]) {
        if (typeof manifest[field] === "string") manifest[field] = [manifest[field]]
      }
      // Only its module for Redis needs that, and nothing here imports it.
      if (manifest.name === "@effect/platform-node") delete manifest.peerDependencies?.redis
      // Only its modules for a whole SDK need the major before. Nothing here imports those.
      if (manifest.name === "@effect/opentelemetry") {
        for (const name of Object.keys(manifest.peerDependencies ?? {})) {
          if (/^@opentelemetry\/(resources|sdk-|api-logs)/.test(name)) manifest.peerDependencies[name] = "*"
        }
      }
      // Optional parts that nothing here uses. The site of the documents has them for other reasons, and every install
      // would get them with it.
      for (const name of { vite: ["esbuild", "yaml"], debug: ["supports-color"] }[manifest.name] ?? []) {
        delete manifest.peerDependencies?.[name]
        delete manifest.peerDependenciesMeta?.[name]
      }
      return manifest
    }
  }
}
