/* Host names in the static program. glibc loads the modules that /etc/nsswitch.conf names (mdns,
 * resolve, myhostname, sss, ...) from the system, together with the libc of the system. In a static
 * program that crashes if the versions of the two libcs differ. So the static program reads
 * /etc/hosts and asks the DNS servers of /etc/resolv.conf, which glibc does without modules since
 * 2.34, whatever /etc/nsswitch.conf says. scripts/release links this file. */
#include <features.h>
#include <nss.h>

#if !__GLIBC_PREREQ(2, 34)
#error "before glibc 2.34, files and dns are modules too"
#endif

__attribute__((constructor)) static void configure_nss(void) {
  __nss_configure_lookup("hosts", "files dns");
  __nss_configure_lookup("services", "files");
  __nss_configure_lookup("passwd", "files");
  __nss_configure_lookup("group", "files");
}
