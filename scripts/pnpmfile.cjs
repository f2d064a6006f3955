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
      return manifest
    }
  }
}
