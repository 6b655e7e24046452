// SPDX-License-Identifier: GPL-2.0-or-later
/* What people call a control group: paths as systemd, container engines and Slurm make them. */
#include "test.h"
#include <stdlib.h>
#include <string.h>

#include "base/group_name.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "2f1d0f5c-1d3c-4b8e-9a51-0c7d5b5f2b11"
#define UNIT_UID "2f1d0f5c_1d3c_4b8e_9a51_0c7d5b5f2b11"

struct named {
	const char *path, *name;
};

static void expect_names(const struct named *n)
{
	char name[GROUP_NAME_LEN];

	for (; n->path; n++) {
		group_name(n->path, name);
		if (strcmp(name, n->name) != 0)
			fail_msg("%s is called %s, not %s", n->path, name, n->name);
	}
}

TEST(units_of_systemd)
{
	expect_names((const struct named[]) {
		{ "/system.slice/nginx.service", "nginx.service" },
		{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service" },
		/* Groups that the service itself has made. */
		{ "/system.slice/systemd-udevd.service/udev", "systemd-udevd.service" },
		{ "/init.scope", "init.scope" },
		{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox-12.scope",
		  "app-firefox-12.scope" },
		/* The user's own systemd. */
		{ "/user.slice/user-1000.slice/user@1000.service/init.scope", "user@1000.service" },
		{ "/user.slice", "user.slice" },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator",
		  "machine-qemu\\x2d1\\x2dvm.scope" },
		{ NULL, NULL } });
}

TEST(containers)
{
	expect_names((const struct named[]) {
		{ "/docker/" ID, "docker/0123456789ab" },
		{ "/system.slice/docker-" ID ".scope", "docker/0123456789ab" },
		{ "/docker/" ID "/system.slice/nginx.service",
		  "docker/0123456789ab/nginx.service" },
		{ "/machine.slice/libpod-" ID ".scope/container", "podman/0123456789ab" },
		{ "/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon/0123456789ab" },
		{ "/system.slice/nerdctl-" ID ".scope", "nerdctl/0123456789ab" },
		{ "/default/" ID, "default/0123456789ab" },
		{ "/lxc.payload.web/system.slice/nginx.service", "lxc/web" },
		{ "/lxc/web", "lxc/web" },
		{ "/ecs/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef-1234567",
		  "ecs/0123456789ab" },
		{ NULL, NULL } });
}

TEST(pods)
{
	expect_names((const struct named[]) {
		{ "/kubepods/burstable/pod" UID "/" ID, "pod2f1d0f5c/0123456789ab" },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UNIT_UID
		  ".slice/cri-containerd-" ID ".scope",
		  "pod2f1d0f5c/0123456789ab" },
		{ "/kubepods.slice/kubepods-pod" UNIT_UID ".slice/crio-" ID ".scope",
		  "pod2f1d0f5c/0123456789ab" },
		{ "/kubepods.slice/kubepods-pod" UNIT_UID ".slice/crio-conmon-" ID ".scope",
		  "pod2f1d0f5c/crio-conmon/0123456789ab" },
		{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
		  "kubelet-kubepods-besteffort-pod" UNIT_UID ".slice/cri-containerd-" ID ".scope",
		  "pod2f1d0f5c/0123456789ab" },
		/* containerd without its systemd driver. */
		{ "/system.slice/containerd.service/kubepods-besteffort-pod" UNIT_UID
		  ".slice:cri-containerd:" ID,
		  "pod2f1d0f5c/0123456789ab" },
		/* A static pod, which is known by a hash. */
		{ "/kubepods/besteffort/pod0123456789abcdef0123456789abcdef/" ID,
		  "pod01234567/0123456789ab" },
		{ "/kubepods/burstable/pod" UID, "pod2f1d0f5c" },
		{ "/kubepods/besteffort", "/kubepods/besteffort" },
		{ NULL, NULL } });
}

TEST(jobs_of_slurm)
{
	expect_names((const struct named[]) {
		{ "/slurm/uid_1000/job_123/step_0/task_2", "slurm/123.0" },
		{ "/slurm_node1/uid_0/job_5/step_batch", "slurm/5.batch" },
		{ "/system.slice/slurmstepd.scope/job_7/step_extern/user/task_special",
		  "slurm/7.extern" },
		{ "/slurm/uid_1000/job_123", "slurm/123" },
		{ NULL, NULL } });
}

TEST(others_have_their_path)
{
	char path[2000], name[GROUP_NAME_LEN];

	expect_names((const struct named[]) { { "/", "/" },
					      { "/batch/nightly", "/batch/nightly" },
					      { ".../deep/down", ".../deep/down" },
					      { "", "" },
					      { NULL, NULL } });
	/* Longer ones lose their beginning. */
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	strcpy(path + sizeof(path) - 6, "/tail");
	group_name(path, name);
	assert_int_equal(strlen(name), GROUP_NAME_LEN - 1);
	assert_int_equal(strncmp(name, "...x", 4), 0);
	assert_string_equal(name + strlen(name) - 5, "/tail");
}

/* Who may make groups chooses their names. */
TEST(names_that_only_look_like_it)
{
	char name[GROUP_NAME_LEN];

	expect_names((const struct named[]) { { "pod", "pod" },
					      { "kubepods-pod", "kubepods-pod" },
					      { "-", "-" },
					      { ":", ":" },
					      { "/" ID ":", "/" ID ":" },
					      { "/docker-" ID "x", "/docker-" ID "x" },
					      { "/job_", "/job_" },
					      { "/lxc.payload.", "/lxc.payload." },
					      { NULL, NULL } });
	for (unsigned int seed = 1; seed < 20000; seed++) {
		static const char *const parts[] = { "/",     "-",    ":",	 ".",	"pod",
						     ID,      "job_", "step_",	 "lxc", ".slice",
						     "a",     "5",    ".scope",	 "::",	"kubepods-",
						     "--pod", UID,    "payload", "",	"libpod-" };
		char path[2000] = "";
		unsigned int random = seed * 2654435761u;

		for (int i = 0; i < 12; i++, random = random * 1103515245u + 12345)
			strcat(path, parts[(random >> 16) % 20]);
		group_name(path, name);
		assert_true(strlen(name) < GROUP_NAME_LEN);
	}
}

TEST(whole_ids)
{
	static const struct {
		const char *path, *container, *pod;
	} all[] = {
		{ "/docker/" ID "/system.slice/nginx.service", ID, "" },
		{ "/kubepods/burstable/pod" UID "/" ID, ID, UID },
		{ "/kubepods.slice/kubepods-pod" UNIT_UID ".slice/cri-containerd-" ID ".scope", ID,
		  UID },
		{ "/kubepods/burstable/pod" UID, "", UID },
		/* Whoever may make a group chooses its name. */
		{ "/docker/" ID ID "f",
		  "0123456789abcdef0123456789abcdef"
		  "0123456789abcdef0123456789abcdef",
		  "" },
		{ "/kubepods/pod" UID UID "/x", "", UID },
		{ "/system.slice/nginx.service", "", "" },
		{ "", "", "" },
	};
	struct group_ids ids;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		group_ids(all[i].path, &ids);
		assert_string_equal(ids.container, all[i].container);
		assert_string_equal(ids.pod, all[i].pod);
	}
}
